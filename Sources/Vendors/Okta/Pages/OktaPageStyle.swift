import HTTPTypes
import Wire

/// The stylesheet of all pages, their only further file.
enum OktaPageStyle {
    static var response: Response {
        .page(.style, Array(text.utf8), under: OktaContentPolicy(forms: .client(nil)))
    }

    /// Two themes by custom properties; every pair of text and ground stands at 4.5:1 or more, lines of fields at 3:1.
    static let text = """
        :root {
          color-scheme: light dark;
          --ground: #f3f4f7; --card: #fff; --soft: #f3f4f7; --line: #d9dde4; --edge: #858d9b; --text: #1b1f26;
          --quiet: #59616e; --accent: #1d57b0; --on-accent: #fff; --hover: #17468f;
          --refused: #a8201a; --refused-ground: #fdf0ef; --amber: #7d4b00; --amber-ground: #fdf2dc; --fine: #1e6b3a;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --ground: #101317; --card: #1a1e25; --soft: #222732; --line: #343b47; --edge: #747e8f; --text: #e6e9ee;
            --quiet: #a5adba; --accent: #8ab6ff; --on-accent: #0c1a31; --hover: #b1ceff;
            --refused: #ffa39b; --refused-ground: #3a2120; --amber: #f2c374; --amber-ground: #33290f; --fine: #8bd9a5;
          }
        }
        *, ::before, ::after { box-sizing: border-box; }
        body {
          margin: 0; min-height: 100vh; background: var(--ground); color: var(--text);
          font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
        }
        h1, h2, p, dl, dd, fieldset { margin: 0; padding: 0; border: 0; }
        h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 650; }
        h2 { font-size: 0.875rem; font-weight: 600; color: var(--quiet); }
        a { color: var(--accent); }
        code, textarea, dd { font-family: ui-monospace, monospace; font-size: 0.8125rem; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

        header { background: var(--amber-ground); color: var(--amber); }
        header p { padding: 0.5rem 1rem; text-align: center; font-size: 0.875rem; font-weight: 600; }
        main {
          display: flex; flex-wrap: wrap; justify-content: center; align-items: flex-start; gap: 1.25rem;
          max-width: 58rem; margin: 0 auto; padding: 3rem 1rem;
        }
        section, aside { flex: 0 1 26rem; min-width: 0; border-radius: 0.75rem; padding: 2rem; }
        section { background: var(--card); border: 1px solid var(--line); }
        aside { flex-basis: 21rem; padding: 2rem 0.5rem; }

        .lead { margin-top: 0.375rem; color: var(--quiet); }
        .note { color: var(--quiet); font-size: 0.875rem; }
        section > .note { margin-top: 1rem; }
        .alert { margin-top: 1rem; padding: 0.75rem 1rem; border-radius: 0.375rem; background: var(--refused-ground); color: var(--refused); }
        .alert { border-left: 4px solid currentColor; font-weight: 600; }
        .wait { margin-top: 1rem; padding: 0.75rem 1rem; border-radius: 0.375rem; background: var(--soft); }
        .wait strong { display: inline-block; font-size: 1.5rem; font-variant-numeric: tabular-nums; vertical-align: middle; }

        form { display: grid; gap: 1rem; margin-top: 1.5rem; grid-template-columns: minmax(0, 1fr); }
        input[type=hidden] { display: none; }
        .field { display: grid; gap: 0.25rem; grid-template-columns: minmax(0, 1fr); }
        label { font-weight: 600; font-size: 0.875rem; }
        input, select, textarea, button { font: inherit; color: inherit; width: 100%; border-radius: 0.375rem; }
        input, select, textarea { background: var(--card); border: 1px solid var(--edge); padding: 0.5rem 0.75rem; min-height: 2.75rem; }
        textarea { resize: vertical; font: 0.8125rem/1.5 ui-monospace, monospace; }
        [aria-invalid] { border: 2px solid var(--refused); }
        [name=passcode], [name=user_code] { font-size: 1.25rem; letter-spacing: 0.15em; font-variant-numeric: tabular-nums; }
        [name=user_code] { text-transform: uppercase; }

        button {
          min-height: 2.75rem; padding: 0.5rem 1rem; cursor: pointer; font-weight: 600;
          background: var(--card); border: 1px solid var(--edge);
        }
        button:hover { border-color: var(--accent); background: var(--soft); }
        button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        button.main:hover { background: var(--hover); border-color: var(--hover); }
        .row { display: flex; flex-wrap: wrap; gap: 0.75rem; }
        .row button { width: auto; flex: 1 1 auto; }

        fieldset { display: grid; gap: 0.5rem; grid-template-columns: minmax(0, 1fr); min-width: 0; }
        /* Many users scroll by themselves; the padding keeps room for the line around the one in focus. */
        fieldset { grid-auto-rows: max-content; max-height: 30rem; overflow-y: auto; padding: 0.375rem; margin: -0.375rem; }
        legend { padding: 0; margin-bottom: 0.5rem; color: var(--quiet); font-size: 0.875rem; }
        .user { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 0.75rem; text-align: left; font-weight: 400; line-height: 1.4; }
        .user small { grid-column: 1 / -1; color: var(--quiet); font-size: 0.8125rem; }
        .status { color: var(--fine); font-size: 0.75rem; font-weight: 600; letter-spacing: 0.03em; line-height: 1.4rem; white-space: nowrap; }
        .status.other { color: var(--amber); }

        .check { display: flex; gap: 0.75rem; align-items: flex-start; font-weight: 400; font-size: 1rem; }
        .check input { width: 1.25rem; height: 1.25rem; min-height: 0; margin: 0.125rem 0; flex: none; accent-color: var(--accent); }
        .check span { display: grid; min-width: 0; }
        .check small { color: var(--quiet); }

        details { border-top: 1px solid var(--line); padding-top: 0.75rem; }
        details + details { margin-top: -0.25rem; }
        details > :not(summary) { margin-top: 0.75rem; }
        summary { cursor: pointer; color: var(--accent); font-size: 0.875rem; font-weight: 600; padding: 0.25rem 0; }

        dl { display: grid; gap: 0.625rem; margin-top: 1rem; }
        dt { color: var(--quiet); font-size: 0.75rem; }
        dd { font-size: 0.875rem; }

        @media (max-width: 40rem) {
          main { padding: 0; gap: 0; }
          section, aside { flex-basis: 100%; padding: 1.5rem 1rem; }
          section { border-width: 0 0 1px; border-radius: 0; }
        }

        """
}
