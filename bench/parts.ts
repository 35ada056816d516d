import type { Part } from './part.ts'
import { badTokens } from './parts/bad-tokens.ts'
import { bodies } from './parts/bodies.ts'
import { coldStart } from './parts/cold-start.ts'
import { comparison } from './parts/comparison.ts'
import { connections } from './parts/connections.ts'
import { decision } from './parts/decision.ts'
import { inMemory } from './parts/in-memory.ts'
import { latencies } from './parts/latencies.ts'
import { lists } from './parts/lists.ts'
import { longPolls } from './parts/long-polls.ts'
import { memory } from './parts/memory.ts'
import { redis } from './parts/redis.ts'
import { reload } from './parts/reload.ts'
import { renewal } from './parts/renewal.ts'
import { requests } from './parts/requests.ts'

/** All parts, in the order of the page. */
export const PARTS: readonly Part[] = [
  requests,
  bodies,
  lists,
  decision,
  inMemory,
  latencies,
  renewal,
  reload,
  badTokens,
  connections,
  coldStart,
  memory,
  redis,
  comparison,
  longPolls,
]
