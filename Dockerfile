# For a release, pin the base image by digest: --build-arg NODE_IMAGE=node:24-slim@sha256:…
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Native modules are prebuilt: no package needs its install script.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build && chmod +x dist/main.js && npm prune --omit=dev --ignore-scripts

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY config config
COPY docs/runbooks docs/runbooks
# For `kubectl exec deploy/gateway -- engine-gateway check --config …`.
RUN ln -s /app/dist/main.js /usr/local/bin/engine-gateway
# The user is a number, so that Kubernetes can verify that it is not root. Any other number is possible. The gateway writes no files
# into the image, so the root file system may be read-only.
USER 10001:10001
EXPOSE 8080 9090
# The heap limit is half of the memory of the container. By default it is at least 256 MiB, and the operating system would end the
# process in a container of 256 MiB. A value of the operator or of the chart replaces this one; a flag in ENTRYPOINT would override it.
ENV NODE_OPTIONS=--max-old-space-size-percentage=50
# --max-semi-space-size: by default, the space that Node.js uses for new objects grows with the memory of the machine. 8 MB is an
# eighth of the default on a large machine, and saves more than 100 MB. Compared with 16, the value 8 saves 25 MB when long lists
# are read, and costs a microsecond for each request.
# --no-allocation-site-pretenuring: if objects of a code location survive some garbage collections while the first requests arrive,
# V8 allocates later objects of this location in the old generation, objects of each request included. These objects become garbage
# soon, but all objects that they reference stay in memory until the whole heap is collected. A third of the processes got into this
# state in their first seconds and never left it: a collection of the young generation took 30 ms instead of 1 ms, and each request
# added 8 KB to the old generation.
# --no-separate-gc-phases: new objects are also collected while V8 marks the old heap, as in Node.js 22. Otherwise, the new space grows
# during a marking, and the end of the marking moves it to the old heap: a pause of up to 80 ms at 10,000 requests a second.
# --heap-growing-percent=150: V8 marks the heap when it is 2.5 times as large as after the last marking, or half of the way to its limit
# is used. By default, it marks about three times as often.
# Workers inherit the flags of the process that starts them. NODE_OPTIONS accepts only the first flag.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--no-allocation-site-pretenuring", "--no-separate-gc-phases", "--heap-growing-percent=150", "dist/main.js", "--config", "/etc/engine-gateway/gateway.yaml"]
