// The request behind the graph, as something to paste into a shell or a program.

import { element } from './dom.js';
import { curlGet, curlPost, queryBody } from './request.js';

export function showRequest(container, state) {
  const base = new URL('.', location.href).href;
  const get = curlGet(base, state);
  const texts = [
    ['curl', 'curl-post', curlPost(base, state)],
    ...(get === null ? [] : [['curl, as an address', 'curl-get', get]]),
    ['JSON for POST /api/query', 'json', JSON.stringify(queryBody(state), null, 2)],
  ];
  const shown = [...container.querySelectorAll('pre')];
  // In place where it can be: somebody may be at the buttons.
  if (shown.length === texts.length) shown.forEach((pre, i) => (pre.textContent = texts[i][2]));
  else container.replaceChildren(...texts.flatMap((one) => text(...one)));
}

function text(title, id, content) {
  const pre = element('pre', { id }, content);
  const copy = element('button', { onclick: () => copyText(pre, copy) }, 'Copy');
  return [element('div', { class: 'row' }, element('b', {}, title), copy), pre];
}

async function copyText(pre, button) {
  try {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = 'Copied';
  } catch {
    // Without TLS browsers give no clipboard to pages of other machines: the text is marked
    // instead.
    getSelection().selectAllChildren(pre);
    button.textContent = 'Marked: press Ctrl-C';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}
