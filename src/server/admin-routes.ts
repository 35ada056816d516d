import type {
  AdminAnswer,
  AdminPage,
  AdminRequest,
  AdminRoute,
  Readiness,
} from '../metrics/admin-listener.ts'
import { jsonAnswerOf, oneLine } from '../metrics/admin-listener.ts'
import type { Metrics } from '../metrics/registry.ts'
import { isRecord } from '../request/value.ts'
import { addReports } from './comparison-reports.ts'
import { API_PAGE, COMPARED, EXPLAIN, type ServingProcesses } from './questions.ts'
import { PAGE_HEADERS } from '../api-document/api-page-style.ts'
import { DEFAULT_ENGINE } from '../pipeline/locate-request.ts'
import { readRunbookPage } from '../status/runbook-page.ts'
import type { Drain } from './drain.ts'
import type { Purge } from './purge.ts'
import type { ChangeShift } from './shift-shares.ts'
import type { Reload } from './reload.ts'

/** The gateway as the admin listener reads and controls it, with one process or with several workers. */
export interface AdministeredGateway {
  /** The processes that serve. A route that needs something of them asks a question: questions.ts. */
  readonly processes: ServingProcesses
  /** The metrics of all processes. */
  readonly metrics: Pick<Metrics, 'contentType' | 'text'>
  readonly readiness: () => Readiness | Promise<Readiness>
  /** The status of all processes. Requests within a second get the same status. */
  readonly status: () => Promise<unknown>
  /** A page for users that requests the status repeatedly. */
  readonly statusPage: AdminPage
  /** The configuration in force, without its secrets. */
  readonly configuration: () => Promise<unknown>
  readonly reload: Pick<Reload, 'run'>
  readonly purge: Purge
  readonly shift: ChangeShift
  readonly drain: Pick<Drain, 'run'>
}

interface AdminRouteDeclaration extends Omit<AdminRoute, 'answer'> {
  readonly right: NonNullable<AdminRoute['right']>
  /** The row of the route in docs/configuration/reload.md. */
  readonly purpose: string
  readonly answer: (gateway: AdministeredGateway, request: AdminRequest) => AdminAnswer | Promise<AdminAnswer>
}

/** The routes of the admin listener. All of them can be used with one process and with several workers. */
export const ADMIN_ROUTES = {
  alive: {
    method: 'GET',
    path: '/livez',
    right: 'none',
    purpose: 'responds 200 while the process runs',
    answer: () => textAnswerOf(200, 'ok\n'),
  },
  readiness: {
    method: 'GET',
    path: '/readyz',
    right: 'none',
    purpose:
      'responds 200 if the gateway is ready for requests, otherwise 503; with `?verbose`, one line for each check',
    answer: async ({ readiness }, { query }) => {
      const state = await readiness()
      const text = isRecord(query) && 'verbose' in query ? verboseTextOf(state) : textOf(state)
      return textAnswerOf(state.ready ? 200 : 503, text)
    },
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    right: 'read',
    purpose: 'the metrics of all processes, for Prometheus',
    answer: async ({ metrics }) => ({ status: 200, type: metrics.contentType, body: await metrics.text() }),
  },
  start: {
    method: 'GET',
    path: '/',
    right: 'read',
    purpose: 'redirects to the status page',
    // Relative, because a proxy may serve the listener below a path.
    answer: () => ({
      ...textAnswerOf(302, 'The status page is at status\n'),
      headers: { location: 'status' },
    }),
  },
  statusPage: {
    method: 'GET',
    path: '/status',
    right: 'read',
    purpose: 'the status page for browsers',
    answer: ({ statusPage }) => pageAnswerOf(statusPage),
  },
  runbook: {
    method: 'GET',
    path: '/runbook',
    right: 'read',
    purpose: 'the runbook of an alert: `?name=GatewayEngineDown`',
    answer: async (_gateway, { query }) => {
      const page = await readRunbookPage(isRecord(query) ? query['name'] : undefined)
      return page === null ? textAnswerOf(404, 'There is no such runbook\n') : pageAnswerOf(page)
    },
  },
  api: {
    method: 'GET',
    path: '/docs',
    right: 'read',
    purpose:
      'the API of an engine with the permissions of each operation: `?engine=default`; needs `apiDocument`',
    answer: async ({ processes }, { query }) => {
      const name = isRecord(query) ? (query['engine'] ?? DEFAULT_ENGINE) : DEFAULT_ENGINE
      const html = await processes.askOne(API_PAGE, name)
      return html === null
        ? textAnswerOf(404, 'The API is not described, or there is no such engine\n')
        : pageAnswerOf({ html, headers: PAGE_HEADERS })
    },
  },
  status: {
    method: 'GET',
    path: '/status.json',
    right: 'read',
    purpose: 'the values of the status page',
    answer: async ({ status }) => jsonAnswerOf({ status: 200, value: await status() }),
  },
  configuration: {
    method: 'GET',
    path: '/config',
    right: 'read',
    purpose: 'the configuration in force, without secrets',
    answer: async ({ configuration }) => jsonAnswerOf({ status: 200, value: await configuration() }),
  },
  explain: {
    method: 'POST',
    path: '/explain',
    right: 'read',
    isAudited: false,
    purpose: 'whether a user may send a request, and why',
    maxBodyBytes: 64 * 1024,
    answer: async ({ processes }, { body }) =>
      jsonAnswerOf((await processes.askOne(EXPLAIN, body)) ?? NO_PROCESS_ANSWERS),
  },
  reload: {
    method: 'POST',
    path: '/reload',
    right: 'change',
    purpose: 'reads the configuration again and applies it',
    answer: async ({ reload }) => {
      const reloaded = await reload.run('request')
      return jsonAnswerOf({ status: reloaded.result === 'applied' ? 200 : 422, value: reloaded })
    },
  },
  purge: {
    method: 'POST',
    path: '/cache/purge',
    right: 'change',
    purpose: 'removes cached responses: all, or those of `{ engine, tag }`',
    maxBodyBytes: 4096,
    answer: async ({ purge }, { body }) => jsonAnswerOf(await purge(body)),
  },
  compared: {
    method: 'GET',
    path: '/compared',
    right: 'read',
    purpose: 'the results of comparing the responses of two groups of nodes, with the last differences',
    answer: async ({ processes }) =>
      jsonAnswerOf({ status: 200, value: addReports(await processes.askEach(COMPARED)) }),
  },
  shift: {
    method: 'POST',
    path: '/shift',
    right: 'change',
    purpose:
      'changes the shares of a group of nodes to those of `{ engine, reads, writes }`; without shares, reports them',
    maxBodyBytes: 4096,
    answer: async ({ shift }, { body }) => jsonAnswerOf(await shift(body)),
  },
  drain: {
    method: 'POST',
    path: '/nodes/drain',
    right: 'change',
    purpose: 'takes a node of an engine out of use, or returns it: `{ node, engine, back, force }`',
    maxBodyBytes: 4096,
    answer: async ({ drain }, { body, client }) => jsonAnswerOf(await drain.run(body, client)),
  },
} as const satisfies Readonly<Record<string, AdminRouteDeclaration>>

/** Returns the routes of the admin listener of this gateway. */
export function adminRoutesOf(gateway: AdministeredGateway): readonly AdminRoute[] {
  const declared: readonly AdminRouteDeclaration[] = Object.values(ADMIN_ROUTES)
  return declared.map(({ answer, ...route }) => ({ ...route, answer: (request) => answer(gateway, request) }))
}

const NO_PROCESS_ANSWERS = { status: 503, value: { error: 'No worker responds' } }

function pageAnswerOf({ html, headers }: AdminPage): AdminAnswer {
  return { status: 200, type: 'text/html; charset=utf-8', headers, body: html }
}

function textAnswerOf(status: number, text: string): AdminAnswer {
  return { status, type: 'text/plain; charset=utf-8', body: text }
}

function textOf({ ready }: Readiness): string {
  return ready ? 'ok\n' : 'not ready\n'
}

function verboseTextOf(state: Readiness): string {
  const lines = Object.entries(state.checks).map(
    ([name, word]) => `[${word === 'ok' ? '+' : '-'}] ${oneLine(`${name} ${word}`)}\n`,
  )
  return lines.join('') + textOf(state)
}
