// Downloads a release, compares its checksum, starts the server and waits until it is healthy.
const { execFileSync, spawn } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

// The runner hands inputs over as INPUT_…, and reads what these files hold.
const input = (name) => (process.env[`INPUT_${name.toUpperCase()}`] ?? "").trim();
const tell = (file, name, value) => fs.appendFileSync(process.env[file], `${name}=${value}\n`);

async function download(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}; is there such a release?`);
  return Buffer.from(await answer.arrayBuffer());
}

/** Unpacks the release for this machine into a folder, and returns the path of its program. */
async function install(folder) {
  const version = input("version");
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`the input version is “${version}”, and should be like 0.2.0`);
  if (process.platform !== "linux") throw new Error(`releases are for Linux, and this runner is ${process.platform}`);
  const machine = { x64: "x86_64", arm64: "aarch64" }[process.arch];
  if (!machine) throw new Error(`releases are for x86_64 and aarch64, and this runner is ${process.arch}`);

  const name = `understudy-${version}-linux-${machine}`;
  const base = `${input("releases")}/${version}`;
  const [sums, archive] = await Promise.all([download(`${base}/SHA256SUMS`), download(`${base}/${name}.tar.gz`)]);
  const line = sums.toString().split("\n").find((each) => each.endsWith(`  ${name}.tar.gz`));
  const found = createHash("sha256").update(archive).digest("hex");
  if (line?.split(" ")[0] !== found) {
    throw new Error(`${name}.tar.gz has the checksum ${found}, and SHA256SUMS says: ${line ?? "nothing of it"}`);
  }
  fs.writeFileSync(path.join(folder, "release.tar.gz"), archive);
  execFileSync("tar", ["-xzf", "release.tar.gz"], { cwd: folder });
  return path.join(folder, name, "bin", "understudy");
}

/** Starts the server, and returns it once it has written its ports. */
async function serve(program, folder) {
  const ports = path.join(folder, "ports");
  const log = fs.openSync(path.join(folder, "server.log"), "a");
  const extra = input("arguments").split("\n").map((each) => each.trim()).filter(Boolean);
  const server = spawn(program, ["serve", "--port", "0", "--port-file", ports, ...extra], {
    // Keeps running when this script ends; stop.js stops it.
    detached: true,
    stdio: ["ignore", log, log],
  });
  let ended = null;
  server.on("error", (error) => { ended = error.message; });
  server.on("exit", (code) => { ended = `code ${code}`; });
  for (let waited = 0; waited < 300 && !fs.existsSync(ports); waited += 1) {
    if (ended !== null) break;
    await new Promise((done) => setTimeout(done, 100));
  }
  if (!fs.existsSync(ports)) {
    if (ended === null) process.kill(server.pid, "SIGKILL");
    const said = fs.readFileSync(path.join(folder, "server.log"), "utf8");
    throw new Error(`the server ${ended === null ? "wrote no port within 30 s" : `ended with ${ended}`}: ${said}`);
  }
  server.unref();
  return { pid: server.pid, port: /^http (\d+)$/m.exec(fs.readFileSync(ports, "utf8"))[1] };
}

async function main() {
  const folder = fs.mkdtempSync(path.join(process.env.RUNNER_TEMP, "understudy-"));
  const program = await install(folder);
  const { pid, port } = await serve(program, folder);
  const url = `http://127.0.0.1:${port}`;
  tell("GITHUB_STATE", "pid", pid);
  tell("GITHUB_STATE", "folder", folder);
  tell("GITHUB_ENV", "UNDERSTUDY_URL", url);
  tell("GITHUB_OUTPUT", "url", url);
  tell("GITHUB_OUTPUT", "program", program);
  execFileSync(program, ["healthcheck", "--server", url, "--within", "30s"], { stdio: ["ignore", "ignore", "inherit"] });
  console.log(`Understudy answers at ${url}`);
}

main().catch((error) => {
  console.log(`::error::${error.message.replaceAll("%", "%25").replaceAll("\n", "%0A")}`);
  process.exitCode = 1;
});
