import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'
import { AUDIENCE, startProvider, WORKER } from '../../support/oidc-provider.ts'
import { bearer } from '../../support/token-issuer.ts'

async function accessTokenOf(issuer: string, resource: string): Promise<string> {
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${WORKER.client_id}:${WORKER.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
  })
  const { access_token: token }: { access_token?: string } = JSON.parse(await answer.text())
  if (token === undefined) throw new Error(`the provider answered ${answer.status}`)
  return token
}

t.test(
  'a worker with client credentials of a provider is authorized by the groups in its token',
  async (t) => {
    const issuer = await startProvider(t)
    const setting = { name: 'provider', issuer, audience: [AUDIENCE], types: ['at+jwt'], groupPrefix: '' }
    const claims = { client: 'client_id', groups: ['roles'] }
    const tokens = { issuers: [{ ...setting, claims }] }
    const gateway = await openGateway(t, {
      settings: { identity: { source: 'file', file: 'users.yaml', tokens } },
    })
    const headers = bearer(await accessTokenOf(issuer, AUDIENCE))
    const answer = await gateway.ask(null, 'GET /process-definition', { headers })
    t.equal(answer.status, 200)
    t.match(answer.body, [{ key: 'review' }])
    t.match(
      gateway.log.findLast(({ operation }) => operation !== undefined),
      { user: 'worker' },
    )
    const other = bearer(await accessTokenOf(issuer, 'urn:something-else'))
    t.equal((await gateway.ask(null, 'GET /task', { headers: other })).status, 401)
  },
)
