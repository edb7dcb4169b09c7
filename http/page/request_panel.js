// The request behind the graph, as something to paste into a shell or a program.

import { element } from './dom.js';
import { curlGet, curlPost, queryBody } from './request.js';

export function showRequest(container, state) {
  const base = new URL('.', location.href).href;
  const get = curlGet(base, state);
  container.replaceChildren(
    ...text('curl', 'curl-post', curlPost(base, state)),
    ...(get === null ? [] : text('curl, as an address', 'curl-get', get)),
    ...text('JSON for POST /api/query', 'json', JSON.stringify(queryBody(state), null, 2)),
  );
}

function text(title, id, content) {
  const copy = element('button', { onclick: () => copyText(content, copy) }, 'Copy');
  return [
    element('div', { class: 'row' }, element('b', {}, title), copy),
    element('pre', { id }, content),
  ];
}

async function copyText(content, button) {
  try {
    await navigator.clipboard.writeText(content);
    button.textContent = 'Copied';
  } catch {
    // Without TLS browsers give no clipboard to pages of other machines: the text is marked
    // instead.
    getSelection().selectAllChildren(button.parentElement.nextElementSibling);
    button.textContent = 'Marked: press Ctrl-C';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}
