import t from 'tap'
import { authenticatedBy } from '../../src/pipeline/authenticated-by.ts'
import { ANONYMOUS, type Authentication } from '../../src/request/principal.ts'

const by = (authentication?: Authentication) =>
  authenticatedBy({ userId: 'mary', groups: [], tenants: [], ...(authentication && { authentication }) })

t.test('the method of authentication is named for every kind of caller', (t) => {
  t.equal(by(), 'basic')
  t.equal(by({ method: 'certificate', issuer: null }), 'certificate')
  t.equal(by({ method: 'session', issuer: null }), 'session')
  t.equal(by({ method: 'oidc', issuer: 'keycloak' }), 'oidc keycloak')
  t.equal(authenticatedBy(ANONYMOUS), 'none')
  t.equal(authenticatedBy(null), 'none')
  t.end()
})
