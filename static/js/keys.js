// The keyboard. Single letters only outside fields, never while an input method composes.
import { $, $$, on, typing } from './dom.js';
import { copy, permalink } from './copy.js';
import { openMenu } from './menus.js';
import { act, clearLines, step, wrap } from './reader.js';

const hits = () => $$('.hit[tabindex]');

const move = (by) => {
  const all = hits();
  if (!all.length) return;
  const now = all.findIndex((hit) => hit.classList.contains('is-on'));
  const next = all[Math.min(all.length - 1, Math.max(0, now + by))];
  for (const hit of all) hit.classList.toggle('is-on', hit === next);
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
};

// n and N in results: the matching lines, card by card; in the reader its own steps.
const match = (by) => {
  if ($('#lines')) return step(by);
  const all = $$('.hot .lineno');
  const now = all.indexOf(document.activeElement);
  all[Math.max(0, now + by)]?.focus();
};

const current = () => $('.hit.is-on');

const help = async () => {
  const page = document.body.dataset.keysPage;
  let dialog = $('dialog.keys');
  if (!dialog) {
    const text = await (await fetch(page)).text();
    const list = new DOMParser().parseFromString(text, 'text/html').querySelector('#keys');
    dialog = Object.assign(document.createElement('dialog'), { className: 'keys' });
    dialog.setAttribute('aria-label', $('h1', list).textContent);
    dialog.append(list);
    document.body.append(dialog);
    dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  }
  dialog.showModal();
};

const search = () => {
  const field = $('#pattern') ?? $('input[type="search"]:not(.pop input)');
  const selected = getSelection().toString().trim();
  if (!field) return location.assign($('.brand').href);
  if (selected && !selected.includes('\n') && field.id === 'pattern') field.value = selected;
  field.focus();
  field.select();
};

const keys = {
  '/': search,
  '?': help,
  j: () => move(1),
  k: () => move(-1),
  n: () => match(1),
  N: () => match(-1),
  x: () => $('[data-expand]', current() ?? undefined)?.click(),
  o: () => $('.path', current() ?? undefined)?.click(),
  c: () => act('cite'),
  y: () => act('link') || (permalink() && copy(permalink())),
  l: () => $('.goto input')?.focus(),
  w: wrap,
};
const places = { r: '.nav a[href$="/repos"]', s: '.brand', c: '.nav a[href$="/connect"]' };
let leading = -Infinity; // when `g` was pressed

const escape = (event) => {
  const menu = openMenu();
  if (menu) {
    menu.open = false;
    $('summary', menu).focus();
  } else if (typing(event.target)) event.target.blur();
  else clearLines();
};

on('keydown', (event) => {
  if (event.isComposing) return;
  if (event.key === 'Escape') return escape(event);
  if (event.altKey && !event.ctrlKey && !event.metaKey) {
    const name = { KeyC: 'case', KeyR: 'regex' }[event.code];
    const toggle = name && $(`#ask [name="${name}"]`);
    if (toggle) {
      event.preventDefault();
      toggle.click();
    }
    return;
  }
  if (typing(event.target) || event.ctrlKey || event.metaKey || $('dialog[open]')) return;
  if (event.key === 'Enter' && event.target.matches('.hit')) return $('.hot .lineno', event.target)?.click();
  if (event.timeStamp - leading < 1500 && places[event.key]) {
    $(places[event.key])?.click();
    event.preventDefault();
  } else if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
  leading = event.key === 'g' ? event.timeStamp : -Infinity;
});
