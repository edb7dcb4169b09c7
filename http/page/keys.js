// The keyboard: one letter, one deed, wherever no text is being typed.

import { element } from './dom.js';

/** keys: [{ key, title, run }]. dialog lists them on "?". */
export function startKeys(keys, dialog) {
  const all = [...keys, { key: '?', title: 'this list', run: () => dialog.showModal() }];
  dialog.replaceChildren(
    element('h2', {}, 'Keys'),
    element(
      'table',
      {},
      ...all.map(({ key, title }) =>
        element('tr', {}, element('td', {}, element('kbd', {}, key)), element('td', {}, title)),
      ),
    ),
    element(
      'p',
      { class: 'soft' },
      'Drag over the graph: zoom; double click: back. Esc closes this.',
    ),
  );
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || dialog.open)
      return;
    const found = all.find(({ key }) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found.run();
  });
  return () => dialog.showModal();
}

function isTyping(target) {
  return target.matches('input:not([type=checkbox]), select, textarea');
}
