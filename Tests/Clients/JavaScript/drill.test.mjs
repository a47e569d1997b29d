// The app of the page DrillYourApp, under the drill of that page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const binary = process.env.UNDERSTUDY_BINARY ?? ".build/debug/understudy";
const app = "Tests/Clients/JavaScript/drilled.mjs";

test("the app of the page holds under the page's drill, and without a renewal it does not", () => {
  const page = readFileSync("Sources/Understudy/Understudy.docc/DrillYourApp.md", "utf8");
  const [, place, text] = page.match(/<!-- fixture: (\S+) -->\n```yaml\n(.*?)```/s);
  const folder = mkdtempSync(join(tmpdir(), "understudy-drill-"));
  try {
    mkdirSync(join(folder, place, ".."), { recursive: true });
    writeFileSync(join(folder, place), text);
    const name = text.match(/drill: (\S+)/)[1];
    const drill = (file) => JSON.parse(
      execFileSync(binary, ["drill", "--json", "--fixtures", folder, "--only", name, "--", "node", file]).toString());
    assert.equal(drill(app).held, 1);
    const broken = join(folder, "broken.mjs");
    writeFileSync(broken, readFileSync(app, "utf8").replace("answer.status !== 401", "true"));
    assert.throws(() => drill(broken), (error) => error.status === 1 && JSON.parse(error.stdout).broken === 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
