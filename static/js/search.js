// Live search: when to ask, what to say, and what to do when no answer comes.
import { $, $$, fill, on, toast } from './dom.js';

const form = $('#ask');

// A request that a newer one replaces is no error: htmx would say so on the console.
htmx.logger = (_element, name, detail) => {
  if (['htmx:afterRequest', 'htmx:sendAbort'].includes(name)) delete detail.error;
};
const started = new WeakMap();

const typed = (event) => event && event.type !== 'submit';

const letters = () => [...$('#pattern').value].length;

// From three characters on; Enter always asks.
on('htmx:confirm', (event) => {
  if (event.detail.elt !== form || !typed(event.detail.triggeringEvent)) return;
  const short = letters() < Number(form.dataset.liveFrom);
  $('#keep-typing').hidden = !(short && letters());
  if (short) event.preventDefault();
});

on('htmx:configRequest', (event) => {
  if (event.detail.elt === form && typed(event.detail.triggeringEvent)) event.detail.headers['X-Typed'] = '1';
});

on('htmx:beforeRequest', ({ detail }) => started.set(detail.xhr, performance.now()));

// Errors are banners too: show them. A refused poll or a lost place keeps what is there.
on('htmx:beforeSwap', ({ detail }) => {
  if (detail.xhr.status >= 400 && detail.serverResponse.includes('<')) {
    detail.shouldSwap = true;
    detail.isError = false;
  }
  if (detail.target.id === 'results' && detail.shouldSwap) leaveHome();
});

const leaveHome = () => {
  document.body.classList.remove('home');
  $('#intro')?.remove();
  $('.try')?.remove();
};

on('htmx:sendError', () => toast(document.body.dataset.sayOffline));

const showRoundTrip = (ms) => {
  const place = $('[data-round-trip]');
  if (place && ms > 0) place.textContent = ' · ' + fill(place.dataset.roundTrip, ms < 10 ? ms.toFixed(1) : Math.round(ms));
};

// The count is said once the results have settled for a second.
let saying;
const say = () => {
  clearTimeout(saying);
  saying = setTimeout(() => {
    const place = $('#said');
    if (place) place.textContent = $('#found')?.textContent ?? '';
  }, 1000);
};

on('htmx:afterSettle', ({ detail }) => {
  if (form && detail.target.id === 'results') {
    $('#keep-typing').hidden = true;
    showRoundTrip(performance.now() - (started.get(detail.xhr) ?? Infinity));
    document.title = $('#results').dataset.title || document.title;
    say();
  }
});

// After "Show more" the focus goes to the first new file.
let last;
on('htmx:beforeSwap', ({ detail }) => { if (detail.target.id === 'more') last = $$('.hit').at(-1); });
on('htmx:afterSettle', () => {
  if (!last) return;
  last.nextElementSibling?.focus();
  last = null;
});

// Polling must not close a menu, or take a selection away, under the reader's hand.
on('htmx:confirm', (event) => {
  const { elt } = event.detail;
  if (!('poll' in elt.dataset) || event.detail.triggeringEvent) return;
  const selected = getSelection();
  const busy = $('details[open]', elt) || (!selected.isCollapsed && elt.contains(selected.anchorNode));
  if (busy || document.hidden) event.preventDefault();
});

// Pickers: the links work as they stand; with a script they keep what is in the form now.
const pick = (changes) => {
  const data = new FormData(form);
  for (const name of ['commit', 'branch', 'revision', 'pick_revision', 'name']) data.delete(name);
  for (const [name, value] of Object.entries(changes)) data.set(name, value);
  location.assign(`${form.action}?${new URLSearchParams(data)}`);
};

on('click', (event) => {
  const link = event.target.closest('a[data-pick]');
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  pick({ [link.dataset.pick]: link.dataset.value });
});

on('keydown', (event) => {
  if (event.key !== 'Enter' || event.isComposing) return;
  const { target } = event;
  if (target.matches('[data-pick]:not(a)')) {
    event.preventDefault();
    if (target.value.trim()) pick({ [target.dataset.pick]: target.value.trim() });
  } else if (target.matches('[data-pick-first]')) {
    event.preventDefault();
    $('a[data-pick]', target.parentElement)?.click();
  }
});

const navigation = performance.getEntriesByType('navigation')[0];
if (navigation) showRoundTrip(navigation.responseEnd - navigation.requestStart);
$('[data-focus]')?.focus();
