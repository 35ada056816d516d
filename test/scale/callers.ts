import type { Json } from '../differential/admin.ts'
import type { ScaleWorld } from './world.ts'

/** A caller, and the records that determine which items it may see. */
export interface ScaleCaller {
  readonly user: string
  readonly tenants: readonly string[]
  readonly records: readonly Json[]
}

const [DEFINITION, INSTANCE] = [6, 8]
const SEE = ['READ', 'READ_INSTANCE', 'READ_TASK', 'READ_HISTORY']

/** Returns callers with grants on few and many keys, on single instances, on both, with revocations, and members of tenants. */
export function callersOf({ keys, instances }: ScaleWorld): readonly ScaleCaller[] {
  const some = instances.slice(0, 50)
  const onKeys = (count: number) => keys.slice(0, count).map(grant(DEFINITION, SEE))
  const onInstances = some.map(grant(INSTANCE, ['READ']))
  const onManyInstances = instances.slice(0, 300).map(grant(INSTANCE, ['READ']))
  return [
    caller('one', onKeys(1)),
    caller('five', onKeys(5)),
    caller('twenty', onKeys(20)),
    caller('instances', onInstances),
    caller('many', onManyInstances),
    caller('both', [...onKeys(2), ...onInstances]),
    caller('revoked', [grant(DEFINITION, SEE)('*'), ...keys.slice(0, 3).map(revoke)]),
    caller('butone', [grant(DEFINITION, SEE)('*'), ...keys.slice(5, 6).map(revoke)]),
    caller('member', onKeys(20), ['acme']),
    caller('everything', [grant(DEFINITION, SEE)('*')], ['globex']),
  ]
}

function grant(resourceType: number, permissions: readonly string[]): (resourceId: string) => Json {
  return (resourceId) => ({ type: 1, resourceType, resourceId, permissions })
}

function revoke(resourceId: string): Json {
  return { type: 2, resourceType: DEFINITION, resourceId, permissions: SEE }
}

function caller(name: string, records: readonly Json[], tenants: readonly string[] = []): ScaleCaller {
  const user = `scale${name}`
  return { user, tenants, records: records.map((record) => ({ ...record, userId: user })) }
}
