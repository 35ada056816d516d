import { chosenOf, numberOf } from '../arguments.ts'
import { type Contest, COST_COLUMNS, measureContests } from '../load/contests.ts'
import { type Part } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { QUERY_BODY, START_BODY } from '../scenario.ts'
import { type Contenders, NGINX, proxiesOf, startContenders } from '../servers/contenders.ts'

const CASES = ['read', 'write', 'query', 'list', 'cached']
const QUICK_CASES = ['read', 'cached']

/** The CPU time of usual requests. */
export const requests: Part = {
  name: 'requests',
  title: 'Requests',
  measures:
    'The CPU time of the server for each request. 32 connections send requests as fast as possible; the server has one core. `read` and ' +
    '`write` are passed through, `query` is a task query of 270 bytes, `list` has ten items and is restricted to one key by a parameter, ' +
    '`cached` is a diagram of 8 KiB from the cache in memory. The gateway authenticates, decides, validates, and writes metrics and an ' +
    'access log. nginx checks a password (`{SHA}`), and writes its access log except in the row without a log. The other servers do neither.',
  columns: COST_COLUMNS,
  compared: 'cpuMicros',
  options: { starts: '', only: '' },
  run: async (plan) => {
    const only = plan.options['only'] ?? ''
    const starts = numberOf('starts', plan.options['starts'] || (plan.isQuick ? '1' : '2'))
    const chosen = plan.isQuick && only === '' ? QUICK_CASES : chosenOf(only, CASES)
    return measureContests(plan, starts, async () =>
      contestsOf(await startContenders(plan)).filter((contest) => chosen.includes(contest.case)),
    )
  },
}

function contestsOf(contenders: Contenders): readonly Contest[] {
  const { gateways, nginx } = contenders
  const servers = proxiesOf(contenders)
  const key = '/engine-rest/process-definition/key/invoice'
  const caches =
    nginx === null
      ? []
      : [
          { name: `${NGINX}, access log`, server: nginx.logging },
          { name: `${NGINX}, no log`, server: nginx.silent },
        ]
  return [
    { case: 'read', ask: { path: key }, servers },
    { case: 'write', ask: { path: `${key}/start`, body: START_BODY }, servers },
    { case: 'query', ask: { path: '/engine-rest/task', body: QUERY_BODY }, servers },
    { case: 'list', ask: { path: '/engine-rest/process-definition?latestVersion=true' }, servers },
    {
      case: 'cached',
      ask: { path: '/engine-rest/decision-definition/key/dish/diagram' },
      servers: [...gateways, ...caches],
    },
  ]
}

if (import.meta.main) await runAlone(requests)
