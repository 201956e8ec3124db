// Menus are <details>: the browser opens them. Added here: closing from outside, arrow keys,
// the filter at hand when a picker opens, and the theme without a new page.
import { $, $$, on } from './dom.js';

export const openMenu = () => $('details.menu[open]');

on('click', ({ target }) => {
  for (const menu of $$('details.menu[open]')) if (!menu.contains(target)) menu.open = false;
  if (target.closest('.pop .item')) openMenu()?.removeAttribute('open');
});

on('toggle', ({ target }) => {
  if (target.matches?.('.pick[open]')) $('input', target)?.focus();
}, true);

on('keydown', (event) => {
  if (event.isComposing || !['ArrowDown', 'ArrowUp'].includes(event.key)) return;
  const menu = event.target.closest?.('details.menu[open]');
  if (!menu) return;
  const stops = $$('.pop a, .pop .item, .pop input', menu);
  const at = stops.indexOf(document.activeElement);
  stops[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
  event.preventDefault();
});

on('submit', (event) => {
  const button = event.submitter;
  if (button?.name !== 'theme') return;
  event.preventDefault();
  const data = new FormData(event.target, button);
  if (button.value) document.documentElement.dataset.theme = button.value;
  else delete document.documentElement.dataset.theme;
  for (const other of $$('[name="theme"]')) {
    if (other.value === button.value) other.setAttribute('aria-current', 'true');
    else other.removeAttribute('aria-current');
  }
  fetch(event.target.action, { method: 'POST', body: data, redirect: 'manual' });
});
