import ArgumentParser
import Emulation
import Understudy

/// `understudy fixtures`
struct FixturesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fixtures", abstract: "Works on fixture files.", subcommands: [Check.self, Schemas.self])

    /// `understudy fixtures check`
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Reads fixture folders as serve would, and says what is wrong.",
            discussion: "Example: understudy fixtures check ./Fixtures")

        @Argument(
            help: "A folder; its files override the installed ones. Several are judged one by one.",
            completion: .directory)
        var folder: [String]

        func run() throws {
            if folder.count == 1 { return try check(folder[0]) }
            var isGood = true
            for folder in folder {
                Output.line("\(folder):")
                do {
                    try check(folder)
                } catch let error as Misuse {
                    Output.line(error.description)
                    isGood = false
                }
            }
            if !isGood { throw AnswerIsNo() }
        }

        private func check(_ folder: String) throws {
            let store = try FixtureStore.layered(folder: folder)
            let emulator = try Misuse.rephrase { () throws(FixtureProblem) in try Emulator(fixtures: store) }
            // Rejected here as `contract run` would.
            _ = try ContractFiles.inFixtures(store)
            let usage = try Misuse.rephrase { () throws(FixtureProblem) in try store.usage(of: folder) }
            guard !usage.read.isEmpty else {
                let example = emulator.vendors.first.map { "\($0.identity.id)/accounts.yaml" } ?? ""
                throw Misuse("\(folder) holds no file that would be read; expected one such as \(example).")
            }
            Output.line("read: \(usage.read.joined(separator: ", "))")
            let unread = usage.unread.filter { !$0.hasSuffix(FixtureStore.schemaSuffix) }
            if !unread.isEmpty { Output.line("not read: \(unread.joined(separator: ", "))") }
            for vendor in emulator.vendors {
                Output.line(
                    "\(vendor.identity.id): \(vendor.routes.count) routes, \(vendor.failureNames.count) failures, good")
            }
        }
    }
}
