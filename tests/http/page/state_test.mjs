import assert from 'node:assert/strict';
import { test } from 'node:test';

import { newState, parseState, printState } from '../../../http/page/state.js';

test('an address gives back the state that made it', () => {
  const { state } = parseState(
    '#start=2024/01/31-12:00&end=1706745600000&no_annotations&refresh=30&m=sum:1m-avg:a{host=*}{x=y}&m=none:b',
  );
  assert.deepEqual(parseState(printState(state)), { state, wrong: [] });
  assert.equal(
    printState(state),
    '#start=2024/01/31-12:00&end=1706745600000&no_annotations&refresh=30&m=sum:1m-avg:a{host=*}{x=y}&m=none:b',
  );
});

test("an address of OpenTSDB's own page is understood", () => {
  const { state, wrong } = parseState(
    '#start=1h-ago&end=now&m=sum:rate:proc.stat.cpu%7Bhost=web01,type=*%7D&o=&yrange=%5B0:%5D&wxh=800x600',
  );
  assert.deepEqual(wrong, []);
  assert.equal(state.end, '');
  assert.equal(state.subs[0].metric, 'proc.stat.cpu');
  assert.deepEqual(
    state.subs[0].filters.map(({ tagk, filter }) => [tagk, filter]),
    [
      ['host', 'web01'],
      ['type', '*'],
    ],
  );
});

test('the right axis is told as OpenTSDB tells it', () => {
  const { state } = parseState('#m=sum:a&o=&m=sum:b&o=axis%20x1y2&m=sum:c&o=with+lines');
  assert.deepEqual(
    state.subs.map(({ right }) => right),
    [false, true, false],
  );
  assert.equal(printState(state), '#start=1h-ago&m=sum:a&m=sum:b&m=sum:c&o=&o=axis%20x1y2&o=');
  assert.deepEqual(parseState(printState(state)).state, state);
});

test('an address that a form wrote has blanks in times and options, and pluses in filters', () => {
  const { state } = parseState('#start=2024/01/31+12:00&m=sum:m{a=regexp(b+)}&o=axis+x1y2');
  assert.equal(state.start, '2024/01/31 12:00');
  assert.deepEqual([state.subs[0].filters[0].filter, state.subs[0].right], ['b+', true]);
});

test('names with signs of addresses survive', () => {
  const state = newState();
  state.subs = parseState('#m=sum:m').state.subs;
  state.subs[0].metric = 'a&b#c+d%20e ü';
  assert.equal(parseState(printState(state)).state.subs[0].metric, 'a&b#c+d%20e ü');
});

test('what cannot be read is told, the rest is shown', () => {
  const { state, wrong } = parseState('#start=1d-ago&m=nonsense&m=sum:m&view=nowhere&refresh=x');
  assert.equal(wrong.length, 1);
  assert.match(wrong[0], /"nonsense"/);
  assert.deepEqual(
    [state.start, state.subs.length, state.view, state.refresh],
    ['1d-ago', 1, 'graph', 0],
  );
});

test('what is asked anew is so once a second at most, and once a day at least', () => {
  const expected = { 5: 5, '-1': 0, 86401: 86400, 9999999999: 86400, x: 0 };
  for (const [text, seconds] of Object.entries(expected))
    assert.equal(parseState(`#refresh=${text}`).state.refresh, seconds, text);
});

test('an empty address is an empty page', () => {
  assert.deepEqual(parseState(''), { state: newState(), wrong: [] });
});
