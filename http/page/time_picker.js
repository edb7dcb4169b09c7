// The range of time: one of the usual ones up to now, or from one moment to another; moved and
// widened by buttons.

import { element, keepFocus, select } from './dom.js';
import { rangeOf } from './request.js';
import { RANGES, describeRange, toInput } from './times.js';

const REFRESH = [
  { value: '0', text: 'refresh: off' },
  ...[5, 10, 30, 60, 300].map((s) => ({ value: String(s), text: `every ${s} s` })),
];

export class TimePicker {
  /**
   * onChange({ start, end } or { refresh } or { annotations }): what the state is to have instead.
   */
  constructor(container, onChange) {
    this.container = container;
    this.onChange = onChange;
    this.state = null;
  }

  show(state) {
    this.state = state;
    // What stays as it is stays in place, under the pointer of whoever clicks there just now.
    const shown = [state.start, state.end, state.refresh, state.annotations].join(' ');
    if (shown === this.shown) return;
    this.shown = shown;
    // After the event that changed it, as in the builder.
    setTimeout(() => keepFocus(this.container, () => this.render(state)));
  }

  render(state) {
    const own = describeRange(state.start, state.end);
    const ranges = RANGES.map((range) => ({ value: `${range}-ago`, text: `last ${range}` }));
    const value = state.end === '' ? state.start : own;
    const options = ranges.some((range) => range.value === value)
      ? ranges
      : [{ value, text: own }, ...ranges];
    const range = select([...options, { value: 'custom', text: 'from … to …' }], value, {
      class: 'range',
      'aria-label': 'Range of time',
      onchange: (event) =>
        event.target.value === 'custom'
          ? this.openCustom()
          : this.onChange({ start: event.target.value, end: '' }),
    });
    this.container.replaceChildren(
      this.button('‹', 'Earlier ([)', () => this.move(-0.5)),
      range,
      this.button('›', 'Later (])', () => this.move(0.5)),
      this.button('−', 'Wider (-)', () => this.scale(2)),
      this.button('+', 'Narrower (+)', () => this.scale(0.5)),
      this.customFields(),
      select(REFRESH, String(state.refresh), {
        class: 'refresh',
        'aria-label': 'Asked anew',
        onchange: (event) => this.onChange({ refresh: Number(event.target.value) }),
      }),
      element(
        'label',
        { class: 'check' },
        element('input', {
          type: 'checkbox',
          class: 'annotations',
          checked: state.annotations,
          onchange: (event) => this.onChange({ annotations: event.target.checked }),
        }),
        ' annotations',
      ),
    );
  }

  button(text, title, onclick) {
    const name = title.split(' ')[0].toLowerCase();
    return element('button', { class: name, title, 'aria-label': title, onclick }, text);
  }

  /** [startMs, endMs] as of now. */
  bounds() {
    return rangeOf(this.state, Date.now(), []);
  }

  customFields() {
    this.custom = element(
      'form',
      {
        class: 'row',
        hidden: true,
        onsubmit: (event) => {
          event.preventDefault();
          const [from, to] = [...this.custom.querySelectorAll('input')].map((input) =>
            new Date(input.value).getTime(),
          );
          if (from < to) this.onChange({ start: String(from), end: String(to) });
        },
      },
      element('input', { type: 'datetime-local', step: 1, class: 'from', 'aria-label': 'From' }),
      element('input', { type: 'datetime-local', step: 1, class: 'to', 'aria-label': 'To' }),
      element('button', {}, 'Show'),
    );
    return this.custom;
  }

  openCustom() {
    const [from, to] = this.bounds();
    this.custom.hidden = false;
    const [first, last] = this.custom.querySelectorAll('input');
    [first.value, last.value] = [toInput(from), toInput(to)];
    first.focus();
  }

  /** By a part of its width; never beyond now. */
  move(part) {
    const [from, to] = this.bounds();
    const by = Math.min((to - from) * part, Date.now() - to);
    if (Math.abs(by) >= 1) this.set(from + by, to + by);
  }

  scale(factor) {
    const [from, to] = this.bounds();
    const now = Date.now();
    const middle = (from + to) / 2,
      half = ((to - from) * factor) / 2;
    const end = Math.min(middle + half, now);
    this.set(Math.max(0, end - 2 * half), end);
  }

  set(from, to) {
    this.onChange({ start: String(Math.round(from)), end: String(Math.round(to)) });
  }
}
