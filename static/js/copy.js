// Buttons that copy: their own text, that of another element, or lines of code.
import { $, $$, on, toast } from './dom.js';

export const copy = async (text, button) => {
  const words = document.body.dataset;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return toast(words.sayNotCopied);
  }
  toast(words.sayCopied);
  button?.classList.add('done');
  setTimeout(() => button?.classList.remove('done'), 1200);
};

export const textOf = (lines) => lines.map((line) => $('code', line).textContent).join('\n') + '\n';

// A link that is pinned to the commit; selected lines stay in it.
export const permalink = () => {
  const button = $('[data-permalink]');
  return button && button.dataset.copy + location.hash;
};

on('click', ({ target }) => {
  const button = target.closest('[data-copy], [data-copy-from], [data-copy-lines]');
  if (!button) return;
  const { copy: text, copyFrom, copyLines } = button.dataset;
  if (copyFrom) copy(document.getElementById(copyFrom).textContent, button);
  else if (copyLines) copy(textOf($$('.line', $(copyLines))), button);
  else copy('permalink' in button.dataset ? permalink() : text, button);
});
