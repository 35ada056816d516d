import { isIP } from 'node:net'
import { z } from 'zod'
import { HOST } from './host-pattern.ts'
import type { ClientTls, ServerTls } from './tls-types.ts'

const fileName = z.string().min(1, 'must not be empty').meta({ title: 'file name' })

/** TLS of connections that the gateway opens, to nodes and to Redis. */
export const clientTls = z
  .strictObject({
    ca: fileName
      .optional()
      .describe(
        'Certificates in PEM of those who sign for the servers. Without it, those that Node.js knows.',
      ),
    cert: fileName
      .optional()
      .describe("The gateway's own certificate in PEM, with its chain; for servers that ask for one."),
    key: fileName.optional().describe('The private key in PEM of `cert`, without a passphrase.'),
    serverName: z
      .string()
      .refine((text) => HOST.test(text) && !text.includes(':') && isIP(text) === 0, 'a host name is needed')
      .meta({ title: 'host name' })
      .optional()
      .describe(
        'The name in the certificates of the servers, also sent as SNI. Without it, the host by which a server is reached, which may be an address.',
      ),
  })
  .refine(({ cert, key }) => cert === undefined || key !== undefined, {
    path: ['key'],
    error: 'is needed where cert is given',
  })
  .refine(({ cert, key }) => key === undefined || cert !== undefined, {
    path: ['cert'],
    error: 'is needed where key is given',
  }) satisfies z.ZodType<ClientTls>

const ofServer = {
  cert: fileName.describe('The certificate in PEM, with its chain.'),
  key: fileName.describe('The private key in PEM of `cert`, without a passphrase.'),
  minVersion: z
    .enum(['1.2', '1.3'])
    .default('1.2')
    .describe('The least version of TLS. There is no way to allow an older one.'),
}

const userId = z.string().min(1, 'must not be empty').max(255, 'a user id has at most 255 characters')
const clients = z
  .strictObject({
    ca: fileName.describe('Certificates in PEM of those who sign for clients, and for nobody else.'),
    required: z
      .boolean()
      .default(true)
      .describe(
        'No connection without a certificate that `ca` has signed. If false, a client without one, or with one of others, is asked for credentials.',
      ),
    user: z
      .enum(['commonName', 'dns', 'email', 'uri'])
      .nullable()
      .default(null)
      .describe(
        'Which name in the certificate is the user, where a request has no `Authorization`: the common name of its subject, or the alternative name of this kind if there is exactly one. ' +
          'The users of the engine must have it. Null: a certificate is no user, and credentials are needed as ever. Danger: whoever `ca` signs for is whom their certificate names.',
      ),
    users: z
      .record(z.string().min(1), userId)
      .optional()
      .describe(
        'User ids by the names in certificates, as `{ "spiffe://corp/billing": billing }`; who is not named here is nobody. Without it the name is the user id.',
      ),
  })
  .refine(({ user, users }) => users === undefined || user !== null, {
    path: ['user'],
    error: 'is needed where users is given',
  })

/** TLS of the public listener. */
export const listenTls = z.strictObject({
  ...ofServer,
  clients: clients
    .nullable()
    .default(null)
    .describe('Certificates of clients (mutual TLS). Null: clients are asked for none.'),
}) satisfies z.ZodType<ServerTls>

/** TLS of the admin listener. */
export const adminTls = z.strictObject(ofServer) satisfies z.ZodType<ServerTls>
