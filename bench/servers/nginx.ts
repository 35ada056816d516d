import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { USER } from '../scenario.ts'
import { CORES, freePorts, has, type Server, startServer } from './processes.ts'

/** An nginx in front of the engine, with the same user. */
export interface Nginx {
  /** Caches every response, and writes its access log in the combined format to a file, unbuffered. This is nginx's default. */
  readonly logging: Server
  /** Caches every response, and has no access log. */
  readonly silent: Server
  /** Caches nothing, and writes its access log. */
  readonly passing: Server
}

interface ConfOptions {
  readonly directory: string
  readonly stubPort: number
  readonly ports: readonly number[]
}

/** Starts the nginx that the gateway is compared with: one worker, `auth_basic`, and `proxy_cache` where it caches. Returns null if nginx is not installed. */
export async function startNginx(
  directory: string,
  stubPort: number,
  core: number | null = CORES.server,
): Promise<Nginx | null> {
  if (!has('nginx')) return null
  const ports = await freePorts(3)
  const digest = createHash('sha1').update(USER).digest('base64')
  writeFileSync(join(directory, 'htpasswd'), `${USER}:{SHA}${digest}\n`)
  const file = join(directory, 'nginx.conf')
  writeFileSync(file, confOf({ directory, stubPort, ports }))
  const [loggingPort = 0, silentPort = 0, passingPort = 0] = ports
  const logging = await startServer({ command: ['nginx', '-c', file], port: loggingPort, core })
  return { logging, silent: { ...logging, port: silentPort }, passing: { ...logging, port: passingPort } }
}

// keepalive_requests: by default, each connection ends after 1,000 requests. proxy_ignore_headers: the engine sends no-cache.
function confOf({ directory, stubPort, ports: [loggingPort, silentPort, passingPort] }: ConfOptions): string {
  return `worker_processes 1;
daemon off;
pid ${directory}/nginx.pid;
error_log ${directory}/nginx-error.log;
events { worker_connections 1024; }
http {
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000000;
  types { }
  default_type application/octet-stream;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  proxy_cache_path ${directory}/cache levels=1:2 keys_zone=diagrams:10m;
  client_max_body_size 10m;
  proxy_cache diagrams;
  proxy_cache_valid 200 1h;
  proxy_ignore_headers Cache-Control;
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  auth_basic default;
  auth_basic_user_file ${directory}/htpasswd;
  add_header Cache-Status "nginx; $upstream_cache_status";
  server {
    listen 127.0.0.1:${loggingPort};
    access_log ${directory}/nginx-access.log;
    location / { proxy_pass http://127.0.0.1:${stubPort}; }
  }
  upstream engine {
    server 127.0.0.1:${stubPort};
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${passingPort};
    access_log ${directory}/nginx-passing.log;
    proxy_cache off;
    location / { proxy_pass http://engine; }
  }
  server {
    listen 127.0.0.1:${silentPort};
    access_log off;
    location / { proxy_pass http://127.0.0.1:${stubPort}; }
  }
}
`
}
