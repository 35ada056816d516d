import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runInProcess } from '../support/run-command.ts'

const VERSION = 'version: 1'
const NODE = 'http://engine:8080/engine-rest'
const ENGINES = `engines: { default: { nodes: [${NODE}] } }`
const IDENTITY = 'identity: { source: file, file: users.yaml }'
const AUTHORIZATION = 'authorization: { records: { source: file, file: records.yaml } }'
const PARTS = [VERSION, ENGINES, IDENTITY, AUTHORIZATION]
const HASH = '$2b$10$d/gyW6JQo2kkmkWcvar66.JXI0epwefiOKAsBT2lKepdZugPsKBOy'

type Files = Readonly<Record<'gateway' | 'users' | 'records', string>>

const GOOD: Files = {
  gateway: PARTS.join('\n'),
  users: `users: [{ id: mary, passwordHash: "${HASH}" }]`,
  records: 'authorizations: []',
}

/** Returns the valid files with one more line in the configuration. `replacing` replaces a line instead. */
const adding = (line: string): Files => ({ ...GOOD, gateway: [...PARTS, line].join('\n') })
const replacing = (part: string, line: string): Files => ({
  ...GOOD,
  gateway: PARTS.map((one) => (one === part ? line : one)).join('\n'),
})
const engine = (members: string) => replacing(ENGINES, `engines: { default: ${members} }`)
const user = (members: string): Files => ({ ...GOOD, users: `users: [${members}]` })
const record = (members: string): Files => ({ ...GOOD, records: `authorizations: [${members}]` })

interface Mistake {
  readonly is: string
  readonly files?: Files
  /** The configuration as bytes, if it is not a text. */
  readonly bytes?: Buffer
  /** Default: `check` of the configuration file, for which `FILE` stands. */
  readonly args?: readonly string[]
  /** The path of each problem and the message that follows it. No other problems are reported. */
  readonly says: readonly (readonly [path: string, message: string])[]
  /** Default: 1. */
  readonly code?: 1 | 2
}

/** More than fifty typical mistakes. */
const MISTAKES: readonly Mistake[] = [
  { is: 'an empty file', files: { ...GOOD, gateway: '' }, says: [['(the file)', 'is empty']] },
  {
    is: 'a file that is a list',
    files: { ...GOOD, gateway: '- a' },
    says: [['(the file)', 'must have keys and values']],
  },
  {
    is: 'a file that is not there',
    args: ['check', '--config', 'nosuch.yaml'],
    says: [['', 'the file does not exist']],
  },
  { is: 'no version', files: replacing(VERSION, ''), says: [['version', 'is missing']] },
  { is: 'another version', files: replacing(VERSION, 'version: 2'), says: [['version', 'must be 1']] },
  { is: 'no engines', files: replacing(ENGINES, ''), says: [['engines', 'is missing']] },
  {
    is: 'engines without one',
    files: replacing(ENGINES, 'engines: {}'),
    says: [['engines', 'at least one engine is needed']],
  },
  {
    is: 'engines as a list',
    files: replacing(ENGINES, `engines: [{ nodes: [${NODE}] }]`),
    says: [['engines', 'a section with keys and values is needed']],
  },
  {
    is: 'engines without a value',
    files: replacing(ENGINES, 'engines:'),
    says: [['engines', 'is empty: a section with keys and values is needed']],
  },
  { is: 'an engine without nodes', files: engine('{}'), says: [['engines.default.nodes', 'is missing']] },
  {
    is: 'an engine with an empty list of nodes',
    files: engine('{ nodes: [] }'),
    says: [['engines.default.nodes', 'at least one node is needed']],
  },
  {
    is: 'one node without brackets',
    files: engine(`{ nodes: ${NODE} }`),
    says: [['engines.default.nodes', 'a list is needed']],
  },
  {
    is: 'a node without a scheme',
    files: engine('{ nodes: ["engine:8080/engine-rest"] }'),
    says: [['engines.default.nodes[0]', 'an http:// or https:// URL is needed']],
  },
  {
    is: 'a node with half a scheme',
    files: engine('{ nodes: ["http:engine:8080/engine-rest"] }'),
    says: [['engines.default.nodes[0]', 'an http:// or https:// URL is needed']],
  },
  {
    is: 'the same node twice',
    files: engine(`{ nodes: [${NODE}, HTTP://Engine:8080/engine-rest/] }`),
    says: [['engines.default.nodes[1]', 'is the same node as nodes[0]']],
  },
  {
    is: 'a misspelt key of a node',
    files: engine(`{ nodes: [{ url: "${NODE}", wieght: 2 }] }`),
    says: [
      [
        'engines.default.nodes[0].wieght',
        'unknown key (allowed: url, weight, drain, group): did you mean weight?',
      ],
    ],
  },
  {
    is: 'a weight of nothing',
    files: engine(`{ nodes: [{ url: "${NODE}", weight: 0 }] }`),
    says: [['engines.default.nodes[0].weight', 'a number from 0.1 to 100 is needed']],
  },
  {
    is: 'a password in a URL',
    files: engine('{ nodes: ["http://u:hunter2@engine/engine-rest"] }'),
    says: [['engines.default.nodes[0]', 'the URL must not contain a user or password']],
  },
  {
    is: 'an engine with a blank in its name',
    files: replacing(ENGINES, `engines: { "my engine": { nodes: [${NODE}] } }`),
    says: [['engines.(key 1)', '1 to 64 letters, digits, - and _']],
  },
  {
    is: 'node in place of nodes',
    files: engine(`{ node: [${NODE}] }`),
    says: [
      ['engines.default.nodes', 'is missing'],
      ['engines.default.node', 'did you mean nodes?'],
    ],
  },
  {
    is: 'credentials of another kind',
    files: engine(`{ nodes: [${NODE}], credentials: basic }`),
    says: [
      ['engines.default.credentials', 'none, forward, { username, password } or { header, sign } is needed'],
    ],
  },
  {
    is: 'a header that names no user',
    files: engine(`{ nodes: [${NODE}], credentials: { header: Cookie } }`),
    says: [['engines.default.credentials.header', 'must be Context-User-ID, Authorization, or a name']],
  },
  {
    is: 'an id in the place of a credential',
    files: engine(`{ nodes: [${NODE}], credentials: { header: Authorization } }`),
    says: [['engines.default.credentials.header', 'Authorization requires sign']],
  },
  {
    is: 'a secret that is shorter than its digest',
    files: engine(
      `{ nodes: [${NODE}], credentials: { header: X-User, sign: { secret: ${'A'.repeat(43)}=, algorithm: HS512 } } }`,
    ),
    says: [
      ['engines.default.credentials.sign.secret', 'must not be shorter than the digest of the algorithm'],
    ],
  },
  {
    is: 'no identity',
    files: replacing(IDENTITY, ''),
    says: [
      ['identity', '{ source: file, file }, { source: htpasswd, file } or { source: engine } is needed'],
    ],
  },
  {
    is: 'a misspelt source',
    files: replacing(IDENTITY, 'identity: { source: fiel, file: users.yaml }'),
    says: [
      [
        'identity.source',
        '{ source: file, file }, { source: htpasswd, file } or { source: engine } is needed',
      ],
    ],
  },
  {
    is: 'a source without its file',
    files: replacing(IDENTITY, 'identity: { source: file }'),
    says: [['identity.file', 'is missing']],
  },
  { is: 'no authorization', files: replacing(AUTHORIZATION, ''), says: [['authorization', 'is missing']] },
  {
    is: 'no records',
    files: replacing(AUTHORIZATION, 'authorization: { mode: enforce }'),
    says: [['authorization.records', '{ source: file, file } or { source: engine } is needed']],
  },
  {
    is: 'a misspelt mode',
    files: replacing(AUTHORIZATION, AUTHORIZATION.replace('{ records', '{ mode: enforced, records')),
    says: [['authorization.mode', 'must be one of enforce, report, off, engine: did you mean enforce?']],
  },
  {
    is: 'a mode that YAML reads as false',
    files: adding('validation: { mode: false }'),
    says: [['validation.mode', 'must be one of enforce, report, off']],
  },
  {
    is: 'a hazard that there is not',
    files: adding('validation: { allow: [expression] }'),
    says: [['validation.allow[0]', 'did you mean expressions?']],
  },
  { is: 'a misspelt section', files: adding('cahce: {}'), says: [['cahce', 'did you mean cache?']] },
  {
    is: 'a section in another case',
    files: adding('basepath: /rest'),
    says: [['basepath', 'did you mean basePath?']],
  },
  {
    is: 'a section that is like none',
    files: adding('tls: {}'),
    says: [['tls', 'unknown key (allowed: version, workers, listen, ']],
  },
  {
    is: 'a base path without a slash',
    files: adding('basePath: engine-rest'),
    says: [['basePath', 'write it like /engine-rest']],
  },
  {
    is: 'a port that is text',
    files: adding('listen: { port: http }'),
    says: [['listen.port', 'a whole number from 0 to 65535 is needed']],
  },
  {
    is: 'a port beyond all',
    files: adding('listen: { port: 80800 }'),
    says: [['listen.port', 'a whole number from 0 to 65535 is needed']],
  },
  {
    is: 'a host that is a number',
    files: adding('listen: { host: 127 }'),
    says: [['listen.host', 'text is needed']],
  },
  {
    is: 'both listeners at one port',
    files: adding('admin: { port: 8080 }'),
    says: [['admin.port', 'must differ from the port of listen at the same address']],
  },
  {
    is: 'an empty section',
    files: adding('listen:'),
    says: [['listen', 'is empty: a section with keys and values is needed']],
  },
  {
    is: 'a proxy by its name',
    files: adding('listen: { trustedProxies: [proxy.example] }'),
    says: [['listen.trustedProxies[0]', 'an address or a network like 10.0.0.0/8']],
  },
  {
    is: 'a duration without a unit',
    files: adding('timeouts: { headers: 30 }'),
    says: [['timeouts.headers', 'write it like 30s']],
  },
  {
    is: 'a size in another unit',
    files: adding('limits: { body: 2MB }'),
    says: [['limits.body', 'write it like 2MiB']],
  },
  {
    is: 'yes in place of true',
    files: adding('health: { probe: yes }'),
    says: [['health.probe', 'true or false is needed']],
  },
  {
    is: 'Redis without a scheme',
    files: adding('cache: { redis: "redis:6379/0" }'),
    says: [
      ['cache.redis', 'a redis:// or rediss:// URL, { url }, { sentinel }, { cluster } or null is needed'],
    ],
  },
  {
    is: 'an unknown key of Redis',
    files: adding('cache: { redis: { sentinels: [a] } }'),
    says: [
      ['cache.redis.sentinels', 'unknown key (allowed: url, sentinel, cluster,'],
      ['cache.redis', 'exactly one of url, sentinel, cluster is needed'],
    ],
  },
  {
    is: 'a form of Redis that is not complete',
    files: adding('cache: { redis: { sentinel: { nodes: [a:99999], username: x } } }'),
    says: [
      ['cache.redis.sentinel.nodes[0]', 'write it like NAME or NAME:PORT'],
      ['cache.redis.sentinel.master', 'is missing'],
    ],
  },
  {
    is: 'Redis in two forms',
    files: adding('cache: { redis: { url: "redis://redis", cluster: { nodes: [a] } } }'),
    says: [['cache.redis', 'exactly one of url, sentinel, cluster is needed']],
  },
  {
    is: 'a password of Redis that is given twice, and TLS for a URL without it',
    files: adding('cache: { redis: { url: "redis://:hunter2@redis", password: hunter2, tls: {} } }'),
    says: [
      ['cache.redis.password', 'is also set in url'],
      ['cache.redis.tls', 'needs a rediss:// URL'],
    ],
  },
  {
    is: 'a user of Redis without a password, and a database in a cluster',
    files: adding('cache: { redis: { cluster: { nodes: [a] }, username: x, database: 1 } }'),
    says: [
      ['cache.redis.password', 'is required if username is set'],
      ['cache.redis.database', 'can be set only with sentinel'],
    ],
  },
  {
    is: 'a certificate for Redis without its key',
    files: adding(
      'cache: { redis: { cluster: { nodes: [a] }, tls: { cert: a.pem, serverName: 10.0.0.1 } } }',
    ),
    says: [
      ['cache.redis.tls.serverName', 'a host name is needed'],
      ['cache.redis.tls.key', 'is required if cert is set'],
    ],
  },
  {
    is: 'a certificate of Redis that is not there, and one that is none',
    files: adding(
      'cache: { redis: { sentinel: { nodes: [a], master: m, tls: { ca: none.pem } }, tls: { ca: gateway.yaml } } }',
    ),
    says: [
      ['cache.redis.tls.ca', 'contains no certificate in PEM format'],
      ['cache.redis.sentinel.tls.ca', 'none.pem cannot be read'],
    ],
  },
  {
    is: 'a listener with a certificate that is none, and clients without an authority',
    files: adding('listen: { tls: { cert: gateway.yaml, key: none.pem, clients: { user: dns } } }'),
    says: [['listen.tls.clients.ca', 'is missing']],
  },
  {
    is: 'files of a listener that are none',
    files: adding('admin: { tls: { cert: gateway.yaml, key: none.pem } }'),
    says: [
      ['admin.tls.cert', 'contains no certificate in PEM format'],
      ['admin.tls.key', 'none.pem cannot be read'],
    ],
  },
  {
    is: 'users of certificates that name no user, and an old version',
    files: adding(
      'listen: { tls: { cert: a, key: b, minVersion: "1.1", clients: { ca: c, users: { a: b } } } }',
    ),
    says: [
      ['listen.tls.minVersion', '1.2'],
      ['listen.tls.clients.user', 'is required if users is set'],
    ],
  },
  {
    is: 'a signing key that is too short',
    files: adding('cache: { signingKeys: [short] }'),
    says: [['cache.signingKeys[0]', 'at least 32 characters are needed']],
  },
  {
    is: 'a variable that is not set',
    files: adding('cache: { redis: "${NO_SUCH_REDIS}" }'),
    says: [['cache.redis', 'the environment variable NO_SUCH_REDIS is not set']],
  },
  {
    is: 'a secret file that is not there',
    files: adding('admin: { token: "${file:/no/such}" }'),
    says: [['admin.token', 'the file /no/such cannot be read']],
  },
  {
    is: 'a variable without quotes in braces',
    files: {
      ...GOOD,
      gateway: `${[...PARTS, 'listen: { port: ${PORT} }'].join('\n')}\n${'log: { level: info }\n'.repeat(20)}`,
    },
    says: [['line 5, column 18', 'a ${…} within braces or brackets needs quotes: "${VAR}"']],
  },
  {
    is: 'a variable without quotes in brackets',
    files: engine('{ nodes: [${ENGINE_URL}] }'),
    says: [['line 2, column 32', 'needs quotes']],
  },
  {
    is: 'a tab before a key',
    files: adding('listen:\n\tport: 80'),
    says: [['line 6, column 1', 'Tabs are not allowed as indentation']],
  },
  { is: 'a key twice', files: adding(VERSION), says: [['line 5, column 1', 'Map keys must be unique']] },
  {
    is: 'a bracket that is left open',
    files: engine(`{ nodes: [${NODE} }`),
    says: [['line 2', 'Flow sequence']],
  },
  {
    is: 'a prefix without a slash',
    files: adding('passthrough: [{ prefix: app, upstream: http://web }]'),
    says: [['passthrough[0].prefix', 'write it like /app']],
  },
  {
    is: 'a prefix that leads elsewhere',
    files: adding('passthrough: [{ prefix: /app/../engine-rest, upstream: http://web }]'),
    says: [['passthrough[0].prefix', 'without .. in it']],
  },
  {
    is: 'a prefix that is the base path in another case',
    files: adding('passthrough: [{ prefix: /Engine-Rest, upstream: http://web }]'),
    says: [['passthrough[0].prefix', 'must not contain basePath']],
  },
  {
    is: 'a prefix of the API in another case',
    files: adding('passthrough: [{ prefix: /ENGINE-REST/task, upstream: http://web }]'),
    says: [['passthrough[0].prefix', 'the API has paths below /engine-rest/task']],
  },
  {
    is: 'an unknown key of TLS to an application, and a certificate without its key',
    files: adding(
      'passthrough: [{ prefix: /app, upstream: "https://web", tls: { cert: a.pem, cafile: x, serverName: 10.0.0.1 } }]',
    ),
    says: [
      ['passthrough[0].tls.cafile', 'unknown key (allowed: ca, cert, key, serverName)'],
      ['passthrough[0].tls.serverName', 'a host name is needed'],
      ['passthrough[0].tls.key', 'is required if cert is set'],
    ],
  },
  {
    is: 'files of TLS to an application that are none',
    files: adding(
      'passthrough: [{ prefix: /app, upstream: "https://web", tls: { ca: gateway.yaml, cert: nocert.pem, key: nokey.pem } }]',
    ),
    says: [
      ['passthrough[0].tls.ca', 'gateway.yaml contains no certificate in PEM format'],
      ['passthrough[0].tls.cert', 'nocert.pem cannot be read'],
      ['passthrough[0].tls.key', 'nokey.pem cannot be read'],
    ],
  },
  {
    is: 'a probe of an application as an engine has it',
    files: adding('passthrough: [{ prefix: /app, upstream: http://web, probe: true, probes: /x }]'),
    says: [
      ['passthrough[0].probes', 'unknown key (allowed: prefix, upstream, nodes, tls, probe, '],
      ['passthrough[0].probe', 'text is needed'],
    ],
  },
  {
    is: 'one prefix in place of a list',
    files: adding('passthrough: { prefix: /app, upstream: http://web }'),
    says: [['passthrough', 'a list is needed']],
  },
  {
    is: 'a prefix without its upstream',
    files: adding('passthrough: [{ prefix: /app }]'),
    says: [['passthrough[0]', 'needs either upstream or nodes']],
  },
  {
    is: 'forwarded credentials without an account of its own',
    files: {
      ...GOOD,
      gateway: [
        VERSION,
        `engines: { default: { nodes: [${NODE}], credentials: forward } }`,
        'identity: { source: engine }',
        AUTHORIZATION,
      ].join('\n'),
    },
    says: [['engines.default.service', 'is required if credentials is forward']],
  },
  {
    is: 'users that are not there',
    files: replacing(IDENTITY, 'identity: { source: file, file: nosuch.yaml }'),
    says: [['', 'does not exist']],
  },
  {
    is: 'a password in place of its hash',
    files: user('{ id: mary, passwordHash: hunter2 }'),
    says: [['users[0].passwordHash', 'must be an argon2id or bcrypt hash']],
  },
  {
    is: 'a user without a hash',
    files: user('{ id: mary }'),
    says: [['users[0].passwordHash', 'is missing']],
  },
  {
    is: 'one group in place of a list',
    files: user(`{ id: mary, passwordHash: "${HASH}", groups: clerks }`),
    says: [['users[0].groups', 'a list is needed']],
  },
  {
    is: 'a misspelt key of a user',
    files: user(`{ id: mary, passwordHash: "${HASH}", group: [clerks] }`),
    says: [
      ['users[0]', 'unknown key group (allowed: id, passwordHash, groups, tenants): did you mean groups?'],
    ],
  },
  {
    is: 'a user twice',
    files: user(`{ id: mary, passwordHash: "${HASH}" }, { id: mary, passwordHash: "${HASH}" }`),
    says: [['users[1].id', 'is the same as users[0].id']],
  },
  {
    is: 'a permission that there is not',
    files: record('{ type: 1, groupId: a, resourceType: 7, resourceId: "*", permissions: [EDIT] }'),
    says: [['authorizations[0]', "'EDIT' is not a permission of TASK (7)"]],
  },
  {
    is: 'a type by its name',
    files: record('{ type: GRANT, groupId: a, resourceType: 7, resourceId: "*", permissions: [ALL] }'),
    says: [['authorizations[0].type', 'must be one of 0, 1, 2']],
  },
  {
    is: 'a record for nobody',
    files: record('{ type: 1, resourceType: 7, resourceId: "*", permissions: [ALL] }'),
    says: [['authorizations[0]', 'needs exactly one of userId and groupId']],
  },
  {
    is: 'no configuration',
    args: ['check'],
    says: [['', "required option '-c, --config <FILE>' not specified"]],
    code: 2,
  },
  {
    is: 'a configuration in Latin-1',
    files: GOOD,
    bytes: Buffer.from(`${GOOD.gateway}\n# caf\xe9\n`, 'latin1'),
    says: [['', 'the file is not a text in UTF-8: save it in UTF-8']],
  },
  {
    is: 'a configuration in UTF-16',
    bytes: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(GOOD.gateway, 'utf16le')]),
    says: [['', 'the file is a text in UTF-16: save it in UTF-8']],
  },
  {
    is: 'a zero byte in the configuration',
    files: adding('log: { level: "in\0fo" }'),
    says: [['', 'the file is not a text, because it contains a zero byte']],
  },
  {
    is: 'a list with - in braces',
    files: adding('log: { - level: info }'),
    says: [['', 'a list with - or an indented section is not possible within braces or brackets']],
  },
  {
    is: 'a variable that is no number',
    files: adding('listen: { port: "${NO_NUMBER:-abc}" }'),
    says: [['listen.port', 'a whole number from 0 to 65535 is needed (the value is set by ${NO_NUMBER})']],
  },
  {
    is: 'a variable for a switch',
    files: adding('health: { probe: "${SWITCH:-true}" }'),
    says: [
      [
        'health.probe',
        'true or false is needed. The value of ${SWITCH} is a text, so write the value itself here',
      ],
    ],
  },
  {
    is: 'the name of a resource instead of its number',
    files: record(
      '{ type: 0, permissions: [READ], userId: "*", resourceType: Process-Definition, resourceId: "*" }',
    ),
    says: [['authorizations[0].resourceType', 'a whole number is needed: PROCESS_DEFINITION is 6']],
  },
  {
    is: 'a permission in lower case',
    files: record('{ type: 0, permissions: [read], userId: "*", resourceType: 6, resourceId: "*" }'),
    says: [['authorizations[0]', 'did you mean READ?']],
  },
  {
    is: 'a request without a method',
    args: ['explain', '--config', 'FILE', '--user', 'mary', '/task'],
    says: [['', 'A request is written as "METHOD /path", for example "GET /task"']],
    code: 2,
  },
  {
    is: 'the beginning of the id of an operation',
    args: ['who-can', 'startProcess', '--config', 'FILE'],
    says: [['', "There is no operation 'startProcess': did you mean startProcessInstance?"]],
    code: 2,
  },
  {
    is: 'an engine that does not respond to a question',
    files: engine('{ nodes: ["http://127.0.0.1:9/engine-rest"] }'),
    args: ['explain', '--config', 'FILE', '--user', 'mary', 'POST /task/x/complete'],
    says: [['Engine default', 'No node of the engine can be reached: connect ECONNREFUSED 127.0.0.1:9']],
    code: 2,
  },
  {
    is: 'a folder instead of a file of records',
    files: replacing(AUTHORIZATION, 'authorization: { records: { source: file, file: . } }'),
    says: [['authorization.records.file', 'is a folder, not a file']],
  },
  {
    is: 'the records of one engine in a file that is not there',
    files: engine(`{ nodes: [${NODE}], authorization: { records: { source: file, file: none.yaml } } }`),
    says: [['engines.default.authorization.records.file', 'none.yaml does not exist']],
  },
  {
    is: 'a misspelt command',
    args: ['chekc', '--config', 'gateway.yaml'],
    says: [['', "unknown command 'chekc'\n(Did you mean check?)"]],
    code: 2,
  },
  {
    is: 'an option that there is not',
    args: ['check', '--conf', 'gateway.yaml'],
    says: [['', "unknown option '--conf'\n(Did you mean --config?)"]],
    code: 2,
  },
]

/** Words of the libraries, and the values of secrets. */
const LEAKS = /undefined|expected |received|Invalid input|ZodError|NaN|hunter2|\bat .*\.ts/

const CHECK = ['check', '--config', 'FILE']

async function run(args: readonly string[]) {
  const { code, err: text } = await runInProcess(args)
  return { code, text }
}

t.test('the files in which the mistakes are made are valid', async (t) => {
  const folder = writeFiles(t, GOOD)
  t.same(await run(['check', '--config', join(folder, 'gateway.yaml')]), { code: 0, text: '' })
})

function writeFiles(t: Test, files: Files): string {
  const folder = t.testdir({})
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.yaml`), text)
  return folder
}

for (const { is, files = GOOD, bytes, args = CHECK, says, code = 1 } of MISTAKES)
  t.test(`${is} is reported with its path`, async (t) => {
    const folder = writeFiles(t, files)
    const file = join(folder, 'gateway.yaml')
    if (bytes !== undefined) writeFileSync(file, bytes)
    const ran = await run(args.map((one) => (one === 'FILE' ? file : one)))
    t.equal(ran.code, code)
    for (const [path, message] of says) {
      const line = ran.text.split('\n').find((one) => one.includes(message)) ?? ran.text
      t.match(line, message)
      if (path !== '') t.ok(line.includes(`${path}: `) || line.includes(`${path}, `), line)
    }
    t.notMatch(ran.text, LEAKS)
    const problems = ran.text.split('\n').filter((line) => line.startsWith('  '))
    if (code === 1) t.equal(problems.length, says.length, ran.text)
  })

t.test('at least fifty mistakes are tested', (t) => {
  t.ok(MISTAKES.length >= 50)
  t.end()
})
