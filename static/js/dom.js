// What the other scripts share.
export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
export const on = (type, listener, options) => document.addEventListener(type, listener, options);

// Fields take letters for themselves.
export const typing = (element) =>
  element.matches?.('textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])');

export const toast = (text) => {
  const note = Object.assign(document.createElement('div'), { className: 'toast', textContent: text });
  $('.toasts').append(note);
  setTimeout(() => note.remove(), 2500);
};

// Put numbers into a sentence of a data attribute: %s, or %1 and %2.
export const fill = (sentence, ...values) =>
  sentence.replace(/%(s|\d)/g, (_, key) => values[key === 's' ? 0 : key - 1]);

export const count = (number) => new Intl.NumberFormat('en').format(number);
