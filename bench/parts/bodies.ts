import { COST_COLUMNS, measureContests } from '../load/contests.ts'
import { type Part } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { LARGE_QUERY_BODY, LARGE_START_BODY } from '../scenario.ts'
import { proxiesOf, startContenders } from '../servers/contenders.ts'
import { RECORDS } from '../servers/gateway.ts'

const DOWNLOAD = { type: 1, groupId: 'clerks', resourceType: 9, resourceId: 'large', permissions: ['READ'] }

/** The CPU time of requests with large bodies. */
export const bodies: Part = {
  name: 'bodies',
  title: 'Large bodies',
  measures:
    'The CPU time of the server for each request with a large body: a start with 900 variables (57 KB), a task query with 40,000 business keys (950 KB), and a download of ' +
    '1 MiB. The gateway validates the two JSON bodies member by member. The other servers forward the bytes.',
  columns: COST_COLUMNS,
  compared: 'cpuMicros',
  run: (plan) =>
    measureContests(plan, 1, async () => {
      const servers = proxiesOf(await startContenders(plan, { records: [...RECORDS, DOWNLOAD] }))
      const start = '/engine-rest/process-definition/key/invoice/start'
      const contests = [
        { case: 'start, 57 KB', ask: { path: start, body: LARGE_START_BODY }, servers },
        { case: 'query, 950 KB', ask: { path: '/engine-rest/task', body: LARGE_QUERY_BODY }, servers },
        {
          case: 'download, 1 MiB',
          ask: { path: '/engine-rest/deployment/large/resources/a/data' },
          servers,
        },
      ]
      return plan.isQuick ? contests.slice(0, 1) : contests
    }),
}

if (import.meta.main) await runAlone(bodies)
