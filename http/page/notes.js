// The annotations of the range that is shown: their list and, for who may write them, a form.

import { api } from './api.js';
import { element, keepFocus } from './dom.js';
import { formatTime, toInput } from './times.js';

const field = (text, attributes) => element('label', {}, `${text} `, element('input', attributes));
const timeField = (text, name, more = {}) =>
  field(text, { type: 'datetime-local', step: 1, class: name, ...more });
// The server has seconds or milliseconds, as they were written; 0 is none.
const inMs = (time) => (time < 1e10 ? time * 1000 : time);
const wholeSeconds = (time) => Math.floor(inMs(time) / 1000);

/** Deletes it at those of its times; where it is deleted it does not stand any more. */
async function deleteFrom(standsAt, { tsuid }, wanted) {
  for (const startTime of standsAt.filter(wanted)) {
    await api.deleteAnnotation({ tsuid, startTime });
    standsAt.splice(standsAt.indexOf(startTime), 1);
  }
}

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
    this.standsAt = []; // the times at which the server has it: two where a move was half done
    this.kept = {}; // by a field's name: { text, time }, a time and what the field shows of it
    this.saving = false;
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
        onkeydown: (event) => event.key === 'Escape' && !this.saving && this.close(),
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

  /** What is being typed stays. */
  openNew() {
    if (this.edited !== null) this.description.focus();
    else if (this.mayWrite && this.annotations !== null) this.open({});
  }

  open(note) {
    this.edited = note;
    this.standsAt = note.startTime ? [note.startTime] : [];
    this.opener = document.activeElement;
    this.setTime('from', note.startTime || Math.floor(this.beginMs() / 1000));
    this.setTime('to', note.endTime || 0);
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
    this.setTime(isEnd ? 'to' : 'from', Math.round(ms / 1000));
    this.tell();
    // The press took the focus away.
    this.description.focus();
  }

  /**
   * The text has neither a zone nor milliseconds, and stands for two times in the hour that autumn
   * repeats: the time is kept for as long as nobody changes the text.
   */
  setTime(name, time) {
    this[name].value = time ? toInput(inMs(time)) : '';
    this.kept[name] = { text: this[name].value, time };
  }

  /** In seconds; within the second that the server has, as the server has it; 0: there is none. */
  timeOf(name) {
    const { text, time } = this.kept[name];
    const { value } = this[name];
    const now = value === text ? time : Math.round(new Date(value).getTime() / 1000) || 0;
    const had = this.edited[`${name === 'from' ? 'start' : 'end'}Time`];
    return had && wholeSeconds(had) === wholeSeconds(now) ? had : now;
  }

  tell() {
    this.onForm(['from', 'to'].map((name) => inMs(this.timeOf(name)) || NaN));
  }

  say(text) {
    this.message.textContent = text;
    this.message.hidden = text === '';
  }

  /**
   * The server is asked; no button of the form counts meanwhile, nor does Escape. Where another
   * annotation is opened meanwhile its form stays, and what was refused is said there, by name.
   */
  async during(deed) {
    const { edited } = this;
    const buttons = [...this.form.querySelectorAll('button')];
    buttons.forEach((button) => (button.disabled = true));
    this.saving = true;
    try {
      if (await deed()) {
        if (this.edited === edited) this.close();
        this.onChange();
      }
    } catch (error) {
      const name = this.edited === edited ? '' : `${edited.description || 'The new one'}: `;
      this.say(name + error.message);
    } finally {
      buttons.forEach((button) => (button.disabled = false));
      this.saving = false;
    }
  }

  async save() {
    const { edited, standsAt } = this;
    const note = {
      ...edited,
      startTime: this.timeOf('from'),
      endTime: this.timeOf('to'),
      description: this.description.value.trim(),
      notes: this.notes.value.trim(),
    };
    if (note.description === '') throw new Error('What happened is blank');
    if (note.endTime && wholeSeconds(note.endTime) < wholeSeconds(note.startTime))
      throw new Error('The end is before the beginning');
    // The time is what an annotation is known by: another one there would be written over. Nothing
    // holds it between the question and the writing; that takes two people at one second at once.
    const there = standsAt.includes(note.startTime) ? null : await api.annotationAt(note);
    if (there) {
      const at = formatTime(inMs(note.startTime));
      throw new Error(
        `There is an annotation at this time already, ${at}: ${there.description || there.notes}`,
      );
    }
    await api.writeAnnotation(note);
    if (!standsAt.includes(note.startTime)) standsAt.push(note.startTime);
    await deleteFrom(standsAt, note, (time) => time !== note.startTime);
    return true;
  }

  async delete() {
    await deleteFrom(this.standsAt, this.edited, () => true);
    return true;
  }
}
