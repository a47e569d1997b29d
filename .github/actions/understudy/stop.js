// Stops the server that start.js has started, and shows its log.
const fs = require("node:fs");
const path = require("node:path");

// What start.js left for this script; nothing if it failed before there was a server.
const { STATE_pid: pid, STATE_folder: folder } = process.env;

function runs() {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    // There is no such process.
    return false;
  }
}

async function main() {
  if (!pid) return;
  if (runs()) {
    process.kill(Number(pid), "SIGTERM");
    // It takes ten seconds at most for what is in flight.
    for (let waited = 0; waited < 200 && runs(); waited += 1) await new Promise((done) => setTimeout(done, 100));
    if (runs()) process.kill(Number(pid), "SIGKILL");
  } else {
    console.log("::warning::the server had ended before the job did");
  }
  console.log("::group::The server's log");
  console.log(fs.readFileSync(path.join(folder, "server.log"), "utf8"));
  console.log("::endgroup::");
  fs.rmSync(folder, { recursive: true });
}

main();
