import type { TagOperations } from '../table.ts'

/** Telemetry: 3 operations of the published API. */
export const telemetry = {
  getTelemetryConfiguration: {
    route: 'GET /telemetry/configuration',
    checks: [],
  },
  configureTelemetry: {
    route: 'POST /telemetry/configuration',
    checks: [],
  },
  getTelemetryData: {
    route: 'GET /telemetry/data', perNode: true,
    checks: [{ admin: true, anyOf: ['SYSTEM.READ'], denied: 403 }],
  },
} satisfies TagOperations
