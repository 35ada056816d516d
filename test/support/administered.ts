import { createMetrics } from '../../src/metrics/registry.ts'
import type { AdministeredGateway } from '../../src/server/admin-routes.ts'

interface Administered extends Partial<AdministeredGateway> {
  /** Returns the value of the response to `POST /explain`. Default: the question. */
  readonly explain?: (question: unknown) => unknown
}

/** Returns a gateway for an admin listener. It is ready, and refuses reloads. */
export function administered({
  explain = (question) => ({ question }),
  ...given
}: Administered = {}): AdministeredGateway {
  return {
    processes: {
      askEach: async () => [],
      askOne: async ({ isAnswer }, question) => {
        const answer: unknown = { status: 200, value: explain(question) }
        return isAnswer(answer) ? answer : null
      },
      configured: 1,
    },
    metrics: createMetrics({ version: '1' }),
    readiness: () => ({ ready: true, checks: {} }),
    status: async () => ({ ready: true }),
    statusPage: { html: '<p>how it is', headers: { 'content-security-policy': "default-src 'none'" } },
    configuration: async () => ({ config: { version: 1 }, secrets: null }),
    shift: async (change) => ({ status: 200, value: { change } }),
    purge: async (selection) => ({ status: 200, value: { selection } }),
    drain: { run: async (request, client) => ({ status: 200, value: { request, client } }) },
    reload: { run: async () => ({ result: 'refused', problems: ['listen.port: no'] }) },
    ...given,
  }
}
