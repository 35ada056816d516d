import type { EngineSources } from './engine-sources.ts'
import type { KnownSubjects } from './runtime.ts'

/**
 * Returns the users and groups that are known at an engine.
 * @param sources null if the engine does not exist
 * @throws GatewayError if users or records are unavailable now
 */
export function knownSubjectsOf(sources: Pick<EngineSources, 'identity' | 'records'> | null): KnownSubjects {
  if (sources === null) return { areListed: true, users: [], groups: [] }
  const { named } = sources.records.current()
  const listed = sources.identity.everybody()
  return {
    areListed: listed !== null,
    // A record with this user id applies to all users.
    users: sorted(listed?.map(({ userId }) => userId) ?? named.users.keys()).filter((user) => user !== '*'),
    groups: sorted([...named.groups.keys(), ...(listed ?? []).flatMap(({ groups }) => groups)]),
  }
}

function sorted(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].sort()
}
