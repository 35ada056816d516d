import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface NginxOptions {
  readonly directory: string
  readonly stubPort: number
  /** The server on this port writes its access log in the combined format to a file, unbuffered. This is nginx's default. */
  readonly loggingPort: number
  /** The server on this port has no access log. */
  readonly silentPort: number
  readonly user: string
  readonly password: string
}

/** Writes the configuration of the nginx that the gateway's cache is compared with: `proxy_cache` behind `auth_basic`. Returns its path. */
export function writeNginxConf(options: NginxOptions): string {
  const { directory, user, password } = options
  const digest = createHash('sha1').update(password).digest('base64')
  writeFileSync(join(directory, 'htpasswd'), `${user}:{SHA}${digest}\n`)
  const file = join(directory, 'nginx.conf')
  writeFileSync(file, confOf(options))
  return file
}

// keepalive_requests: by default, each connection ends after 1,000 requests. proxy_ignore_headers: the engine sends no-cache.
function confOf({ directory, stubPort, loggingPort, silentPort }: NginxOptions): string {
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
  server {
    listen 127.0.0.1:${silentPort};
    access_log off;
    location / { proxy_pass http://127.0.0.1:${stubPort}; }
  }
}
`
}
