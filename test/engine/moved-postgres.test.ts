import t from 'tap'
import { javaSkip, postgresFolder, postgresSkip } from '../support/requirements.ts'
import { startPostgres } from './database.ts'
import { testMove } from './move-requests.ts'

void t.test(
  'requests and the job executor move from Camunda to Operaton and back, twice, on PostgreSQL',
  { skip: javaSkip === false ? postgresSkip() : javaSkip, timeout: 900_000 },
  (t) => testMove(t, { startDatabase: () => startPostgres(postgresFolder ?? ''), isSwitched: true }),
)
