import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import {
  askedSubs,
  curlGet,
  curlPost,
  queryBody,
  rangeOf,
  resolve,
} from '../../../http/page/request.js';
import { parseState } from '../../../http/page/state.js';

const stateOf = (hash) => parseState(hash).state;
const BASE = 'http://127.0.0.1:4242/';

test('the body asks for what the state shows', () => {
  assert.deepEqual(
    queryBody(
      stateOf(
        '#start=1h-ago&end=5&m=avg:1m-max:rate{counter,100,7}:explicit_tags:a{host=*}&m=sum:b',
      ),
    ),
    {
      start: '1h-ago',
      end: '5',
      msResolution: true,
      showQuery: true,
      globalAnnotations: true,
      queries: [
        {
          metric: 'a',
          aggregator: 'avg',
          downsample: '1m-max',
          rate: true,
          rateOptions: { counter: true, counterMax: 100, resetValue: 7 },
          explicitTags: true,
          filters: [{ tagk: 'host', type: 'wildcard', filter: '*', groupBy: true }],
        },
        { metric: 'b', aggregator: 'sum' },
      ],
    },
  );
  assert.equal(queryBody(stateOf('#no_annotations&m=sum:b')).noAnnotations, true);
});

test('points by value are asked for in both ways', () => {
  const state = stateOf('#m=none:value%3E90:m');
  assert.equal(queryBody(state).queries[0].valueFilter, '>90');
  assert.match(curlGet(BASE, state), /m=none%3Avalue%3E90%3Am'/);
});

test('equal sub-queries are sent once, as answers count them', () => {
  const state = stateOf('#m=sum:a&m=sum:a&m=sum:b&o=&o=axis%20x1y2&o=');
  state.subs.push({ ...state.subs[0], metric: '' });
  assert.deepEqual(
    askedSubs(state).map((sub) => state.subs.indexOf(sub)),
    [0, 2],
  );
  assert.equal(queryBody(state).queries.length, 2);
});

test('a filter that is being typed is not asked for yet', () => {
  const state = stateOf('#m=sum:m{a=b}');
  state.subs[0].filters.push(
    { tagk: '', type: 'wildcard', filter: '*', groupBy: true },
    { tagk: 'c', type: 'regexp', filter: '', groupBy: true },
  );
  assert.deepEqual(
    queryBody(state).queries[0].filters.map(({ tagk }) => tagk),
    ['a'],
  );
  assert.match(curlGet(BASE, state), /m=sum%3Am%7Ba%3Db%7D'/);
});

test('automatic downsampling follows the range', () => {
  const interval = (start) =>
    resolve(stateOf(`#start=${start}&m=sum:auto-max-nan:m`), 1.7e12, 500).subs[0].downsample;
  assert.equal(interval('5m-ago'), '1s-max-nan');
  assert.equal(interval('1h-ago'), '10s-max-nan');
  assert.equal(interval('1d-ago'), '5m-max-nan');
  assert.equal(interval('1y-ago'), '1d-max-nan');
  assert.equal(interval('nonsense'), '1s-max-nan');
  assert.equal(resolve(stateOf('#m=sum:7m-avg:m'), 1.7e12, 500).subs[0].downsample, '7m-avg');
});

test('dates are asked for as moments, since the server may be in another zone', () => {
  const state = stateOf('#start=2023/11/14-12:00&end=2023/11/14%2013:00:30&m=sum:m');
  const { start, end } = queryBody(resolve(state, 1.7e12, 500));
  assert.equal(start, String(new Date(2023, 10, 14, 12).getTime()));
  assert.equal(end, String(new Date(2023, 10, 14, 13, 0, 30).getTime()));
  const asIs = queryBody(resolve(stateOf('#start=10min-ago&end=1h-ago&m=sum:m'), 1.7e12, 500));
  assert.deepEqual([asIs.start, asIs.end], ['10min-ago', '1h-ago']);
});

test('an axis begins and ends as asked, or as answered where only the server can read that', () => {
  const now = 1.7e12;
  assert.deepEqual(rangeOf({ start: '1h-ago', end: '' }, now, [5, 6]), [now - 3600e3, now]);
  assert.deepEqual(rangeOf({ start: 'x', end: 'y' }, now, [5, 6, 7]), [5000, 7000]);
  assert.deepEqual(rangeOf({ start: 'x', end: 'y' }, now, []), [now - 3600e3, now]);
});

// printf instead of curl: its arguments are what curl would be given.
const words = (command) =>
  execFileSync('bash', ['-c', command.replace(/^curl/, "printf '%s\\n'")])
    .toString()
    .split('\n');

test('a shell hands curl the body as it is', () => {
  const state = stateOf("#m=sum:m{host=regexp(it's $HOME `x` \\d)}");
  assert.deepEqual(JSON.parse(words(curlPost(BASE, state))[1]), queryBody(state));
});

test('as an address it is the same query, or none where that has no words for it', () => {
  const url = new URL(
    words(curlGet(BASE, stateOf('#start=2h-ago&m=sum:a{x=*}{y=b|c}&m=avg:1m-avg:ü')))[0],
  );
  assert.deepEqual(url.searchParams.getAll('m'), ['sum:a{x=*}{y=b|c}', 'avg:1m-avg:ü']);
  assert.equal(url.searchParams.get('start'), '2h-ago');
  for (const flag of ['ms', 'arrays', 'show_query', 'global_annotations'])
    assert.ok(url.searchParams.has(flag), flag);
  const without = new URL(words(curlGet(BASE, stateOf('#no_annotations&m=sum:a')))[0]);
  assert.ok(without.searchParams.has('no_annotations'));
  assert.ok(!without.searchParams.has('global_annotations'));
  assert.match(
    curlGet(BASE, stateOf('#m=sum:rate{dropcounter,100,7}:a')),
    /rate%7Bdropcounter%2C100%2C7%7D/,
  );
  assert.equal(curlGet(BASE, stateOf('#m=sum:m{a=regexp(%257B)}')), null);
});
