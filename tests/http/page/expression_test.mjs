import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isPlain, parseExpression, printExpression } from '../../../http/page/expression.js';

const filter = (tagk, type, text, groupBy) => ({ tagk, type, filter: text, groupBy });

test('every part of an expression is read', () => {
  assert.deepEqual(
    parseExpression(
      'avg:5m-max-zero:rate{counter,100,7}:explicit_tags:cpu.user{host=*,site=a|b}{dc=regexp(x.*)}',
    ),
    {
      metric: 'cpu.user',
      aggregator: 'avg',
      downsample: '5m-max-zero',
      explicitTags: true,
      valueFilter: '',
      right: false,
      rate: { counter: true, drop: false, max: 100, reset: 7 },
      filters: [
        filter('host', 'wildcard', '*', true),
        filter('site', 'literal_or', 'a|b', true),
        filter('dc', 'regexp', 'x.*', false),
      ],
    },
  );
});

test('what is printed is read as the same', () => {
  for (const text of [
    'sum:m',
    'sum:rate:m',
    'sum:1m-avg:rate{dropcounter}:m',
    'sum:rate{counter,,5}:m',
    'sum:rate{counter,9}:m',
    'none:auto-avg:m{host=*}',
    'sum:m{}{host=a|b}',
    'sum:m{a=*}{b=not_literal_or(c)}',
    'p99:0all-max:a/b.c-d_e{x=wildcard(*web*)}',
    'sum:m{é=ü}',
    'none:1m-count:value>=90.5:m',
    'sum:value!=NaN:m{a=b}',
  ])
    assert.equal(printExpression(parseExpression(text)), text);
});

test('a filter may hold what ends a filter', () => {
  const sub = {
    metric: 'm',
    aggregator: 'sum',
    downsample: '',
    rate: null,
    explicitTags: false,
    valueFilter: '',
    right: false,
    filters: [
      filter('host', 'regexp', '^a{1,2}:(b|c)%$', true),
      filter('disk', 'literal_or', 'C:', false),
    ],
  };
  const text = printExpression(sub);
  assert.deepEqual(parseExpression(text), sub);
  assert.equal(isPlain(text), false);
  assert.equal(isPlain('sum:1m-avg:m{host=*}'), true);
});

test('a literal that looks like another kind keeps its kind', () => {
  const sub = parseExpression('sum:m{host=literal_or(a*)}');
  assert.deepEqual(sub.filters, [filter('host', 'literal_or', 'a*', true)]);
  assert.equal(printExpression(sub), 'sum:m{host=literal_or(a*)}');
});

test('a text that is no expression is refused by name', () => {
  for (const text of ['', 'sum', 'sum:', 'sum:{host=a}', 'sum:m{host}']) {
    assert.throws(
      () => parseExpression(text),
      (error) => error.message.includes(`"${text === 'sum:m{host}' ? 'host' : text}"`),
      text,
    );
  }
});
