// The annotations of the range that is shown: their list and, for who may write them, a form.

import { api } from './api.js';
import { element, keepFocus } from './dom.js';
import { formatTime, toInput } from './times.js';

const field = (text, attributes) => element('label', {}, `${text} `, element('input', attributes));
const timeField = (text, name, more = {}) =>
  field(text, { type: 'datetime-local', step: 1, class: name, ...more });
const inSeconds = (input) => Math.round(new Date(input.value).getTime() / 1000);

export class Notes {
  /**
   * beginMs(): the time of a new one. onChange(): one was written or deleted. onForm([startMs, endMs]
   * or null): the times that stand in the form, NaN where there is none; null: it is closed.
   */
  constructor(container, { beginMs, onChange, onForm }) {
    Object.assign(this, { container, beginMs, onChange, onForm });
    this.mayWrite = false;
    this.annotations = null; // of answer.js; null: there is no graph
    this.edited = null; // what the server has of the one in the form; {} = a new one
    this.opener = null;
    this.list = element('ul');
    this.add = element(
      'button',
      { class: 'add-note', title: 'Write an annotation (n)', onclick: () => this.openNew() },
      '+ annotation',
    );
    container.append(
      element('div', { class: 'row' }, element('b', {}, 'Annotations'), this.add),
      this.list,
      this.makeForm(),
    );
    this.update();
  }

  makeForm() {
    this.form = element(
      'form',
      {
        hidden: true,
        'aria-label': 'Annotation',
        onsubmit: (event) => {
          event.preventDefault();
          this.during(() => this.save());
        },
        onkeydown: (event) => event.key === 'Escape' && this.close(),
        oninput: () => this.tell(),
      },
      element(
        'div',
        { class: 'row' },
        timeField('From', 'from', { required: true }),
        timeField('to', 'to'),
        element('span', { class: 'soft' }, 'a click on the graph sets it, with Shift the end'),
      ),
      element(
        'div',
        { class: 'row' },
        field('What happened', { class: 'description', required: true, autocomplete: 'off' }),
        field('notes', { class: 'notes', autocomplete: 'off' }),
        element('button', { class: 'save' }, 'Save'),
        element(
          'button',
          { type: 'button', class: 'delete', onclick: () => this.during(() => this.delete()) },
          'Delete',
        ),
        element(
          'button',
          { type: 'button', class: 'cancel', title: 'Esc', onclick: () => this.close() },
          'Cancel',
        ),
      ),
      element('p', { class: 'message', role: 'alert', hidden: true }),
    );
    const find = (name) => this.form.querySelector(name);
    this.from = find('.from');
    this.to = find('.to');
    this.description = find('.description');
    this.notes = find('.notes');
    this.message = find('.message');
    return this.form;
  }

  /** Whether the client may change them. */
  allow(mayWrite) {
    this.mayWrite = mayWrite;
    this.show(this.annotations);
  }

  /** Of answer.js; null: there is no graph. What is being typed stays. */
  show(annotations) {
    this.annotations = annotations;
    keepFocus(this.list, () =>
      this.list.replaceChildren(...(annotations ?? []).map((one) => this.line(one))),
    );
    this.update();
  }

  line({ startMs, endMs, text, note }) {
    const until = endMs > startMs ? ` – ${formatTime(endMs)}` : '';
    const edit = element(
      'button',
      { class: 'edit-note', 'aria-label': `Change ${text}`, onclick: () => this.open(note) },
      'change',
    );
    return element(
      'li',
      { title: note.notes || null },
      `${formatTime(startMs)}${until}  ${text} `,
      this.mayWrite ? edit : null,
    );
  }

  update() {
    this.add.hidden = !this.mayWrite;
    const useful = this.annotations?.length > 0 || (this.mayWrite && this.annotations !== null);
    this.container.hidden = !useful && this.form.hidden;
  }

  openNew() {
    if (this.mayWrite && this.annotations !== null) this.open({});
  }

  open(note) {
    this.edited = note;
    this.opener = document.activeElement;
    const inMs = (time) => (time < 1e10 ? time * 1000 : time);
    this.from.value = toInput(note.startTime ? inMs(note.startTime) : this.beginMs());
    this.to.value = note.endTime ? toInput(inMs(note.endTime)) : '';
    // A time that is not touched stays as exact as it is.
    this.was = { from: this.from.value, to: this.to.value };
    this.description.value = note.description ?? '';
    this.notes.value = note.notes ?? '';
    this.form.querySelector('.delete').hidden = !note.startTime;
    this.form.hidden = false;
    this.say('');
    this.update();
    this.tell();
    this.description.focus();
  }

  close() {
    // A button that was pressed and does not count for the moment has no focus.
    const { activeElement } = document;
    const inside = this.form.contains(activeElement) || activeElement === document.body;
    this.edited = null;
    this.form.hidden = true;
    this.update();
    if (inside) (this.opener?.isConnected ? this.opener : this.add).focus();
    this.onForm(null);
  }

  /** A time was chosen on the graph. */
  pick(ms, isEnd) {
    if (this.edited === null) return;
    (isEnd ? this.to : this.from).value = toInput(Math.round(ms / 1000) * 1000);
    this.tell();
  }

  tell() {
    this.onForm([this.from, this.to].map((input) => inSeconds(input) * 1000));
  }

  say(text) {
    this.message.textContent = text;
    this.message.hidden = text === '';
  }

  /** The server is asked; no button counts meanwhile. What it refuses is said in the form. */
  async during(deed) {
    const buttons = [...this.form.querySelectorAll('button')];
    buttons.forEach((button) => (button.disabled = true));
    try {
      if (await deed()) {
        this.close();
        this.onChange();
      }
    } catch (error) {
      this.say(error.message);
    } finally {
      buttons.forEach((button) => (button.disabled = false));
    }
  }

  async save() {
    const old = this.edited;
    const time = (name, kept) =>
      old.startTime && this[name].value === this.was[name] ? kept : inSeconds(this[name]) || 0;
    const note = {
      ...old,
      startTime: time('from', old.startTime),
      endTime: time('to', old.endTime),
      description: this.description.value.trim(),
      notes: this.notes.value.trim(),
    };
    if (this.to.value !== '' && this.to.value < this.from.value) {
      this.say('The end is before the beginning');
      return false;
    }
    await api.writeAnnotation(note);
    // The time is what an annotation is known by: at another one it is another.
    if (old.startTime && old.startTime !== note.startTime) await api.deleteAnnotation(old);
    return true;
  }

  async delete() {
    await api.deleteAnnotation(this.edited);
    return true;
  }
}
