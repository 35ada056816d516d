import { registerHooks } from 'node:module'

/** A preload that logs each module of OpenTelemetry's SDK that the process loads. The API is left out, because the metrics library loads it. */
registerHooks({
  load(url, context, nextLoad) {
    if (/\/@opentelemetry\/(?!api\/)/.test(url))
      process.stdout.write(`${JSON.stringify({ msg: 'loaded', url })}\n`)
    return nextLoad(url, context)
  },
})
