import type { MissingPermission } from '../errors.ts'
import type { ListItem } from '../policy/authz/entities/look-ups.ts'

/** Returns for each item of a list whether the caller sees it. */
export type Postfilter = (template: string, items: readonly ListItem[]) => Promise<readonly boolean[]>

/** Returns the permissions that would open the items of a list that the caller does not see. */
export type FindMissingItemPermissions = (
  template: string,
  items: readonly ListItem[],
) => Promise<readonly MissingPermission[]>
