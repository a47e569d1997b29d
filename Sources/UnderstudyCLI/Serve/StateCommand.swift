import ArgumentParser
import Emulation
import Understudy

/// `understudy state`
struct StateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Takes sandboxes out of a database of serve --state, or puts them there.",
        discussion: "No server may have the database open. Example: understudy state export understudy.db state.json",
        subcommands: [Export.self, Import.self])

    struct Places: ParsableArguments {
        @Argument(help: "The database: a file such as understudy.db, or postgres://user@host/database.")
        var database: String

        @Argument(help: "The file, in the form of serve --export-on-exit.", completion: .file(extensions: ["json"]))
        var file: String
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes every sandbox of a database into one file, secrets included.")

        @OptionGroup var places: Places

        func run() throws {
            guard FileSystem.holds(places.database) || places.database.firstRange(of: "://") != nil else {
                throw Misuse("there is no database \(places.database).")
            }
            let store = try StateOptions.store(places.database)
            defer { store.leave() }
            let file = StateFile(places.file)
            let lock = try file.checkFolder()
            // A damaged database still gives what can be read.
            var skipped: [String] = []
            do {
                let state = try Emulator.exportState(of: store, at: SandboxClock.machine) { name, problem in
                    skipped.append("the sandbox \(name) is not in it: \(problem)")
                }
                try file.write(state)
                let count = StateFiles.sandboxes(state["sandboxes"]?.array?.count ?? 0)
                Output.line("The state of \(count) was written to \(file.name).")
            } catch {
                throw AnswerIsNo(message: "\(error).")
            }
            withExtendedLifetime(lock) {}
            if !skipped.isEmpty { throw AnswerIsNo(message: skipped.joined(separator: "; ") + ".") }
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Puts the sandboxes of a file into a database, over those of the same names.")

        @OptionGroup var places: Places

        @OptionGroup var world: WorldOptions

        func run() throws {
            let file = StateFile(places.file)
            guard file.exists else { throw Misuse("there is no file \(file.name).") }
            let document = try file.read()
            let fixtures = try world.store(try world.sources())
            let keeper = StateKeeper(try StateOptions.store(places.database))
            defer { keeper.leave() }
            let (count, setAside) = try Misuse.rephrase { () throws(FixtureProblem) in
                let emulator = try Emulator(
                    fixtures: fixtures, sandboxes: SandboxLimits(capacity: .max), keeper: keeper)
                return try emulator.restoreState(document, from: file.name)
            }
            if let problem = keeper.finish() { throw AnswerIsNo(message: "\(problem).") }
            keeper.handOverAll()
            for part in setAside { Output.line("Set aside: \(part)") }
            Output.line("The state of \(StateFiles.sandboxes(count)) was written to \(places.database).")
        }
    }
}
