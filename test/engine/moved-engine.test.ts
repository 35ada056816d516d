import t from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startDatabase } from './database.ts'
import { IS_FULL, testMove } from './move-requests.ts'

void t.test(
  'clients in several languages continue while requests move from Camunda to Operaton and back, twice',
  { skip: javaSkip, timeout: 900_000 },
  // The job executors are switched on PostgreSQL, and here only if everything is tested.
  (t) => testMove(t, { startDatabase, isSwitched: IS_FULL }),
)
