// The code reader: lines in the address, matches, the tree that opens in place.
import { $, $$, count, fill, on, toast } from './dom.js';
import { copy, permalink, textOf } from './copy.js';

const lines = () => $('#lines');

// #L20 or #L20-L35 in the address is the only state.
export const range = () => {
  const found = /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash);
  return found && [+found[1], +(found[2] || found[1])].sort((a, b) => a - b);
};

const number = (line) => +line.id.slice(1);
const chosen = () => $$('.chosen', lines());

const paint = (scroll) => {
  const bar = $('.actions');
  if (!bar) return;
  const now = range();
  for (const line of $$('.line', lines())) {
    line.classList.toggle('chosen', !!now && number(line) >= now[0] && number(line) <= now[1]);
  }
  bar.hidden = !chosen().length;
  if (!now) return;
  const { one, many, past } = bar.dataset;
  const last = +lines().dataset.total;
  if (now[0] > last) return toast(fill(past, count(now[0]), count(last)));
  const to = Math.min(now[1], last);
  $('b', bar).textContent = now[0] === to ? fill(one, count(to)) : fill(many, `${count(now[0])}–${count(to)}`);
  const first = $(`#L${now[0]}`);
  if (!first) return elsewhere(now[0]);
  if (scroll) first.scrollIntoView({ block: 'center' });
};

// A line of a large file that is not loaded: open the window round it.
const elsewhere = (line) => {
  const there = new URL(location);
  there.searchParams.set('from', Math.max(1, line - 10));
  there.searchParams.delete('to');
  location.replace(there);
};

const choose = (line, extend) => {
  const now = range();
  const hash = extend && now ? `#L${Math.min(now[0], line)}-L${Math.max(now[0], line)}` : `#L${line}`;
  history.replaceState(history.state, '', hash);
  paint(false);
};

export const clearLines = () => {
  if (!range()) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  paint(false);
  return true;
};

const hash = () => {
  const [first, last] = range();
  return first === last ? `L${first}` : `L${first}-L${last}`;
};

const acts = {
  cite: () => `[${$('.actions').dataset.cite}:${hash()}](${permalink()})`,
  link: permalink,
  code: () => textOf(chosen()),
};

export const act = (name) => {
  if ($('.actions')?.hidden !== false) return false;
  copy(acts[name]());
  return true;
};

on('click', (event) => {
  const { target } = event;
  const link = target.closest('#lines .lineno');
  if (link) {
    event.preventDefault();
    choose(+link.dataset.n, event.shiftKey);
    link.focus({ preventScroll: true });
  } else if (target.closest('[data-act]')) act(target.closest('[data-act]').dataset.act);
  else if (target.closest('[data-clear]')) clearLines();
  else if (target.closest('[data-wrap]')) wrap();
});

on('keydown', (event) => {
  if (event.key === 'Enter' && event.shiftKey && event.target.matches('#lines .lineno')) {
    event.preventDefault();
    choose(+event.target.dataset.n, true);
  }
});

export const wrap = () => {
  const on = lines()?.classList.toggle('wrapped');
  $('[data-wrap]')?.setAttribute('aria-pressed', on);
};

// Steps from match to match; beyond the window the link leads on.
let at = -1;
export const step = (by) => {
  const hot = $$('.hot', lines() ?? document);
  const control = $(`[data-step="${by}"]`);
  const next = at + by;
  if (next >= 0 && next < hot.length) {
    at = next;
    hot[at].scrollIntoView({ block: 'center' });
    $('.lineno', hot[at]).focus({ preventScroll: true });
    const place = $('#find-count');
    if (place) place.textContent = fill(place.dataset.of, count(at + 1), count(hot.length));
  } else if (control?.href) location.assign(control.href);
};

on('click', (event) => {
  const control = event.target.closest('button[data-step]');
  if (control) step(+control.dataset.step);
});

// The tree: a directory opens in place; a step of a long one is added.
const insert = async (link, path, start, place) => {
  const tree = link.closest('[data-tree]');
  const here = new URL(location);
  const wanted = new URLSearchParams({ path, start });
  for (const name of ['repo', 'commit', 'branch']) wanted.set(name, here.searchParams.get(name) ?? '');
  const answer = await fetch(`${tree.dataset.tree}?${wanted}`, { headers: { 'HX-Request': 'true' } });
  if (!answer.ok) return location.assign(link.href);
  const list = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('ul');
  place(list);
};

on('click', async (event) => {
  const link = event.target.closest('[data-tree] a');
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  if ('moreFrom' in link.dataset) {
    event.preventDefault();
    const row = link.parentElement;
    await insert(link, link.dataset.path, link.dataset.moreFrom, (list) => {
      row.previousElementSibling?.querySelector('a')?.focus();
      row.replaceWith(...list.children);
    });
  } else if (link.hasAttribute('aria-expanded')) {
    event.preventDefault();
    const open = link.getAttribute('aria-expanded') === 'true';
    const below = link.nextElementSibling;
    if (below) below.hidden = open;
    else await insert(link, link.dataset.path, 0, (list) => link.after(list));
    link.setAttribute('aria-expanded', !open);
  }
});

addEventListener('hashchange', () => paint(true));
if (lines()) {
  paint(true);
  const now = range();
  at = $$('.hot', lines()).findIndex((line) => now && number(line) >= now[0]);
  if (!now) at = -1;
  $('.tree [aria-current]')?.scrollIntoView({ block: 'nearest' });
}
on('htmx:afterSettle', ({ detail }) => { if (detail.target.id === 'lines') paint(false); });
