import { authorizationOf, BASE } from '../support/open-gateway.ts'
import { get, head } from '../support/raw.ts'
import {
  type Attack,
  type Outcome,
  TARGET,
  UNREADABLE,
  HAZARD,
  MEDIA,
  HIDDEN,
  STRANGER,
  path,
  raw,
  body,
  withJson,
  withForm,
} from './attack.ts'

const PATHS: readonly Attack[] = [
  path('another engine behind a matrix parameter', '/engine;x=1/other/user'),
  path('another engine behind an empty one', '/engine;/other/user'),
  path('a profile whose id the record does not match', '/user/demo;x=1/profile'),
  path('a rule for the exact path that does not apply', '/user/demo/profile;x=1'),
  path('a session of the attacker’s choice', '/task;jsessionid=AAAA/count'),
  path('a parent that only the container sees', '/task/..;/user/demo/profile'),
  path('an open path as a shield', '/version;/../user/demo/profile'),
  path('a parent', '/task/../user/demo/profile'),
  path('a parent in other letters', '/task/%2e%2e/user/demo/profile'),
  path('a parent half in other letters', '/task/.%2E/user/demo/profile'),
  path('the plain base from below an engine', '/engine/default/../../user/demo/profile'),
  path('an engine named ..', '/engine/../user/demo/profile'),
  path('a segment that is dropped later', '/./user/demo/profile'),
  path('two segments in one parameter', '/user/demo%2Fprofile'),
  path('the same in small letters', '/user/demo%2fprofile'),
  path('a separator of another system', '/task/..%5cuser/demo/profile'),
  path('the same, raw', '/task\\..\\user/demo/profile'),
  path('an empty segment that is merged later', '//user/demo/profile'),
  path('two slashes at the end', '/user/demo/profile//'),
  path('a second decoding', '/user/demo%252Fprofile'),
  path('a third', '/user/demo%25252Fprofile'),
  path('an id that ends early', '/user/demo%00/profile'),
  path('a line of its own in a log or a head', '/user/demo%0d%0aX-A:1'),
  path('a fragment that somebody drops', '/version#/../user/demo/profile'),
  path('overlong dots', '/task/%c0%ae%c0%ae/user'),
  path('half a character', '/user/%e2%82/profile'),
  path('bytes beyond ASCII', '/user/\xe9', UNREADABLE),
  path('a percent sign that is none', '/user/%u002e%u002e/profile'),
  path('a query in the path', '/version%3f/../user/demo/profile'),
  path('a literal that is decoded before it is matched', '/user/demo/%70rofile', HIDDEN),
  path('a base in other letters', '/user/demo/Profile', HIDDEN),
  path('an engine’s name in other case', '/engine/DEFAULT/user', HIDDEN),
  path('a description of everything', '/application.wadl', HIDDEN),
  path('what the engine serves and the API does not list', '/optimize/process-instance/running', HIDDEN),
  path('a suffix that picks another answer', '/user/demo/profile.json', HIDDEN),
  raw('path', 'another host by a double slash', head('GET //evil.example/engine-rest/user'), TARGET),
  raw('path', 'another host by an absolute target', head(`GET http://evil.example${BASE}/user`), TARGET),
  raw('path', 'another scheme', head('GET file:///etc/passwd'), TARGET),
  raw('path', 'a target without a slash', head('GET engine-rest/user'), UNREADABLE),
]

const BODIES: readonly Attack[] = [
  body('a member that one reader takes first and the other last', '{"name":"a","name":"b"}'),
  body('the same behind an escape', '{"name":"a","\\u006eame":"b"}'),
  body('the same in an object within', '{"orQueries":[{"name":"a","name":"b"}]}'),
  body('a second document', '{}{"name":"a"}'),
  body('a comment that one reader skips', '{"a":1/*,"b":2*/}'),
  body('a polluted prototype', '{"__proto__":{"admin":true}}'),
  body('the same below', '{"orQueries":[{"__proto__":{}}]}'),
  body('a null that the engine stumbles over', 'null'),
  body('a number that is another one here', `{"priority":${'1'.repeat(1100)}}`),
  body('a name that the engine stumbles over', `{"${'k'.repeat(60_000)}":1}`),
  body('a stack that overflows', '['.repeat(5000)),
  body('a lone quote', '{"a":"\u0000"}'),
  body('code in a query', '{"assigneeExpression":"${x}"}', HAZARD),
  body(
    'code where the engine’s own guard does not look',
    '{"orQueries":[{"assigneeExpression":"${x}"}]}',
    HAZARD,
  ),
  body('a type that nobody validates', '{}', MEDIA, 'text/plain'),
  body('a type that only looks like JSON', '{}', MEDIA, 'application/jsonx'),
  body('two types', '{}', MEDIA, 'application/json, text/plain'),
  body('another encoding than the declared one', '{}', MEDIA, 'application/json; charset=utf-16'),
  body('a form where JSON is due', '{}', MEDIA, 'multipart/form-data; boundary=b'),
  raw(
    'body',
    'a bomb',
    `${head(`POST ${BASE}/task`, 'Content-Type: application/json', 'Content-Encoding: gzip', 'Content-Length: 2')}{}`,
    MEDIA,
  ),
  raw(
    'body',
    'memory without end',
    head(`POST ${BASE}/task`, 'Content-Type: application/json', 'Content-Length: 9999999999'),
    [413, 'GW_BODY_TOO_LARGE'],
  ),
  raw(
    'body',
    'a class of the attacker’s choice',
    withJson(
      'PUT',
      '/process-instance/x/variables/a',
      '{"type":"Object","valueInfo":{"objectTypeName":"a.B"}}',
    ),
    HAZARD,
  ),
  raw(
    'body',
    'an object that is built from bytes',
    withJson(
      'PUT',
      '/process-instance/x/variables/a',
      '{"valueInfo":{"serializationDataFormat":"application/x-java-serialized-object"}}',
    ),
    HAZARD,
  ),
  raw(
    'body',
    'a file of the engine’s machine in a model',
    withForm(
      'x.bpmn',
      '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
    ),
    HAZARD,
  ),
  raw(
    'body',
    'a model whose file name ends in capitals',
    withForm('a.BPMN', '<!DOCTYPE a SYSTEM "http://evil/"><a/>'),
    HAZARD,
  ),
]

const CHUNKED = 'Transfer-Encoding: chunked'

function framed(hope: string, lines: readonly string[], rest: string): Attack {
  const bytes = head(`POST ${BASE}/task`, 'Content-Type: application/json', ...lines) + rest
  return raw('smuggling', hope, bytes, UNREADABLE)
}

const INNER = `GET ${BASE}/user HTTP/1.1\r\nHost: gateway\r\n\r\n`
const SMUGGLING: readonly Attack[] = [
  framed('a request behind the last chunk', ['Content-Length: 6', CHUNKED], `0\r\n\r\n${INNER}`),
  framed('the same, the other way round', [CHUNKED, 'Content-Length: 6'], `0\r\n\r\n${INNER}`),
  framed(
    'a request behind the shorter length',
    ['Content-Length: 0', `Content-Length: ${INNER.length}`],
    INNER,
  ),
  framed('a coding that one reader does not know', ['Transfer-Encoding: xchunked'], INNER),
  framed('a coding behind a control character', ['Transfer-Encoding:\x0bchunked'], INNER),
  framed('a coding that is named twice', [CHUNKED, 'Transfer-Encoding: identity'], `0\r\n\r\n${INNER}`),
  framed('a size with an underscore', [CHUNKED], `0_2\r\n{}\r\n0\r\n\r\n${INNER}`),
  framed('a negative size', [CHUNKED], `-2\r\n{}\r\n0\r\n\r\n`),
  framed('a size beyond all numbers', [CHUNKED], `${'f'.repeat(17)}\r\n{}\r\n`),
  framed(
    'an extension of a chunk that is 20 KB long',
    [CHUNKED],
    `2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  ),
  framed('a line end that one reader takes', [CHUNKED], `2\n{}\n0\n\n${INNER}`),
  framed('a header that goes on in the next line', ['X-A: a', ' b: c'], ''),
  framed('a header without a colon', ['X-A'], ''),
  framed('a space before the colon', ['Content-Length : 2'], '{}'),
  raw(
    'smuggling',
    'a request without line ends of its own',
    get('/user').replaceAll('\r\n', '\n'),
    UNREADABLE,
  ),
  raw(
    'smuggling',
    'chunks that an old reader does not know',
    `${head(`POST ${BASE}/task`, CHUNKED).replace('HTTP/1.1', 'HTTP/1.0')}0\r\n\r\n`,
    UNREADABLE,
  ),
]

const HOST: Outcome = [400, 'GW_BAD_HOST']
const OVERSIZE: Outcome = [431, 'GW_HEADERS_TOO_LARGE']

function headed(hope: string, lines: readonly string[], outcome: Outcome): Attack {
  return raw('headers', hope, head(`GET ${BASE}/user`, ...lines), outcome)
}

const HEADERS: readonly Attack[] = [
  headed('another Host for the engine than for the gateway', ['Host: evil.example'], HOST),
  headed(
    'another caller for the engine than for the gateway',
    [`Authorization: ${authorizationOf('demo')}`],
    [400, 'GW_BAD_HEADER'],
  ),
  headed('headers without end', [`X-A: ${'a'.repeat(20_000)}`], OVERSIZE),
  headed(
    'headers that only one view shows',
    Array.from({ length: 300 }, (_, index) => `X-${index}: 1`),
    OVERSIZE,
  ),
  headed('an expectation that nobody knows', ['Expect: 200-maybe'], [417, 'GW_EXPECTATION']),
  raw('headers', 'its own headers back', get('/user').replace('GET', 'TRACE'), [405, null]),
  raw('headers', 'a method that somebody serves', get('/user').replace('GET', 'PROPFIND'), [
    501,
    'GW_METHOD_UNKNOWN',
  ]),
  raw('headers', 'a method of no kind', get('/user').replace('GET', 'get'), [501, 'GW_METHOD_UNKNOWN']),
  raw('headers', 'no Host at all', get('/user').replace('Host: gateway\r\n', ''), HOST),
  raw('headers', 'a Host with a path', get('/user').replace('Host: gateway', 'Host: gateway/../evil'), HOST),
  raw(
    'headers',
    'a Host with a user',
    get('/user').replace('Host: gateway', 'Host: gateway@evil.example'),
    HOST,
  ),
  ...['Origin: http://evil.example', 'Origin: null', 'Sec-Fetch-Site: same-site'].map((line) =>
    raw(
      'headers',
      `a deployment that a page has the browser of its visitor send: ${line}`,
      withForm('a.bpmn', '<definitions/>').replace('Host: gateway', `Host: gateway\r\n${line}`),
      [403, 'GW_FOREIGN_ORIGIN'],
    ),
  ),
]

/** Values of Host that two parsers may read as different names. */
const HOSTS: readonly Attack[] = ['a b', '[::1', 'a:b', '"x"', '-'].map((host) =>
  raw(
    'headers',
    `links to another host: ${host}`,
    get('/user').replace('Host: gateway', `Host: ${host}`),
    HOST,
  ),
)

/** Requests that a page of another origin makes a browser send, in forms that only look like the gateway's own origin. */
const ORIGINS: readonly Attack[] = [
  ['Origin: http://gateway@evil.example'],
  ['Origin: http://evil.example/http://gateway'],
  ['Origin: http://gateway.evil.example'],
  ['Origin: '],
  ['Sec-Fetch-Site: same-site'],
  ['Sec-Fetch-Site: same-origin', 'Origin: https://evil.example'],
  ['Origin: https://evil.example', 'X-HTTP-Method-Override: GET'],
].map((lines) =>
  raw(
    'headers',
    `a write of another page: ${lines.join(', ')}`,
    withJson('POST', '/task/count', '{}').replace('Host: gateway', ['Host: gateway', ...lines].join('\r\n')),
    [403, 'GW_FOREIGN_ORIGIN'],
  ),
)

/** A form can send this request without a preflight, because a browser sends none for this content type. */
const TEXT_FORM: Attack = raw(
  'headers',
  'a write of another page as a form of plain text that is JSON',
  withJson('POST', '/task/count', '{}')
    .replace('application/json', 'text/plain')
    .replace('Host: gateway', 'Host: gateway\r\nOrigin: https://evil.example'),
  [403, 'GW_FOREIGN_ORIGIN'],
)

function credentials(hope: string, authorization: string | null, target = '/user'): Attack {
  const line = `Authorization: ${authorizationOf('demo')}\r\n`
  const bytes = get(target).replace(line, authorization === null ? '' : `Authorization: ${authorization}\r\n`)
  return { kind: 'credentials', hope, bytes, status: STRANGER[0], code: STRANGER[1] }
}

const encode = (text: string): string => Buffer.from(text, 'latin1').toString('base64')
const CREDENTIALS: readonly Attack[] = [
  credentials('the engine list without credentials', null, '/engine'),
  credentials('to learn which engines there are', null, '/engine/nosuch/user'),
  credentials('to learn which paths there are', null, '/nosuch'),
  credentials('a user in other case', `Basic ${encode('DEMO:demo')}`),
  credentials('a user with a space', `Basic ${encode('demo :demo')}`),
  credentials('a user without a password', `Basic ${encode('demo:')}`),
  credentials('a password without a user', `Basic ${encode(':demo')}`),
  credentials('no colon', `Basic ${encode('demo')}`),
  credentials('a NUL behind the name', `Basic ${encode('demo\0:demo')}`),
  credentials('a byte order mark before the name', `Basic ${encode('\xef\xbb\xbfdemo:demo')}`),
  credentials('junk in the encoding', `Basic ${encode('demo:demo').replace('=', '')}!`),
  credentials('the encoding of URLs', 'Basic ZGVtbzpkZW1v_-'),
  credentials('another scheme', `Bearer ${encode('demo:demo')}`),
  credentials('a token', 'Negotiate YII='),
  credentials('a token behind a tab', 'Bearer\tx.y.z'),
  credentials('an encrypted token of five parts', 'Bearer a.b.c.d.e'),
  credentials('a line of the log by the name of a user', `Basic ${encode('x\n","user":"demo:x')}`),
  credentials(
    'a member of a log line by the name of a user',
    `Basic ${encode(String.raw`x\n","user":"demo:x`)}`,
  ),
  credentials('the list of engines by the path of one', null, '/engine/default/engine'),
  credentials('a password that is asked about by GET', null, '/identity/verify?username=demo&password=demo'),
  {
    ...credentials('credentials in a cookie', null),
    bytes: get('/user').replace(
      /Authorization: [^\r]*/,
      `Cookie: access_token=x.y.z; Authorization=Basic%20${encode('demo:demo')}`,
    ),
  },
  credentials('a scheme with a comma', `Basic ${encode('demo:demo')}, Basic ${encode('mary:mary')}`),
]

export const ATTACKS: readonly Attack[] = [
  ...PATHS,
  ...BODIES,
  ...SMUGGLING,
  ...HEADERS,
  ...HOSTS,
  ...ORIGINS,
  TEXT_FORM,
  ...CREDENTIALS,
]
