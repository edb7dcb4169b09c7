// The metrics of the server, to look through and to click.

import { api } from './api.js';
import { element, settled } from './dom.js';

// As many are asked for at once; if there are more, what is typed is looked for as the beginning of a name.
const NAMES_MAX = 5000;
const SHOWN_MAX = 300;

export class Explore {
  /** onMetric(name, add): it was clicked; add: as another sub-query. */
  constructor(container, { onMetric }) {
    this.onMetric = onMetric;
    this.names = [];
    this.whole = false;
    this.search = element('input', { type: 'search', id: 'search', placeholder: 'metrics ( / )', 'aria-label': 'Search metrics',
      autocomplete: 'off', spellcheck: 'false' });
    this.list = element('ul', { class: 'names' });
    this.count = element('p', { class: 'soft', role: 'status' });
    container.append(this.search, this.list, this.count);
    const look = settled(() => this.look(), 150);
    this.search.addEventListener('input', () => (this.whole ? this.listNames() : look()));
    container.addEventListener('keydown', (event) => this.move(event));
  }

  async look() {
    const typed = this.whole ? '' : this.search.value.trim();
    const names = await api.suggest('metrics', typed, NAMES_MAX);
    this.names = names;
    this.whole = typed === '' && names.length < NAMES_MAX;
    this.listNames();
  }

  listNames() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.names.filter((name) => words.every((word) => name.toLowerCase().includes(word)));
    this.list.replaceChildren(...found.slice(0, SHOWN_MAX).map((name) => this.line(name)));
    const more = found.length > SHOWN_MAX ? `; the first ${SHOWN_MAX} are shown` : '';
    this.count.textContent = `${found.length}${this.whole ? '' : ' or more'} metrics${more}`;
  }

  line(name) {
    const choose = (add) => this.onMetric(name, add);
    return element('li', {},
      element('button', { class: 'name', title: 'Show it', onclick: (event) => choose(event.shiftKey) }, name),
      element('button', { class: 'more', title: 'Add it as another sub-query', 'aria-label': `Add ${name}`, onclick: () => choose(true) }, '+'));
  }

  /** Arrows walk through the list. */
  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const stops = [this.search, ...this.list.querySelectorAll('.name')];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}
