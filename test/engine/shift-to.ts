import { exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'

/** Changes the shares of the group to which requests are shifted, or reads them if `shares` is empty. */
export async function shiftTo(
  { adminAddress }: Pick<GatewayProcess, 'adminAddress'>,
  shares: { readonly reads?: string; readonly writes?: string },
): Promise<unknown> {
  const ask = { method: 'POST', path: '/shift', headers: { 'x-requested-by': 'test' }, body: shares } as const
  const { status, body } = await exchange(adminAddress, ask)
  if (status !== 200) throw new Error(`The shift failed: ${status} ${JSON.stringify(body)}`)
  return body
}
