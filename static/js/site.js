// Every effect of these scripts is an extra: without them each page searches, reads and navigates.
// No inline handlers, no eval, no style attributes, and no words: those come from data attributes.
import './copy.js';
import './menus.js';
import './search.js';
import './reader.js';
import './keys.js';
