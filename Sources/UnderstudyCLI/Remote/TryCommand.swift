import ArgumentParser
import JSON
import Understudy

struct TryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Prints calls to paste: one that a running server accepts, and one that it refuses.",
        discussion: """
            Example: understudy try rezolve

            Their tokens are minted as they are printed. Of a single vendor it also lists the sample accounts.
            Exit codes: 0 done, 1 no answer, 2 misuse.
            """)

    @Argument(help: "Only this vendor, with its sample accounts.", completion: .vendors)
    var vendor: String?

    @OptionGroup var server: RunningServer

    func run() throws {
        let vendors = try server.call(.get, "vendors")["vendors"]?.array ?? []
        guard let vendor else {
            for each in vendors { try show(each) }
            return Output.line("Sample accounts: understudy try VENDOR")
        }
        let named = try Misuse.require(
            vendors.first { $0["id"]?.string == vendor }, "no vendor is called", vendor,
            among: vendors.compactMap { $0["id"]?.string })
        try show(named)
        Output.line("Sample accounts:")
        Output.table((named["samples"]?.array ?? []).map { ["  \(text("label", of: $0))", text("value", of: $0)] })
    }

    private func show(_ vendor: JSON) throws {
        let id = text("id", of: vendor)
        let calls = try server.call(.get, "vendors/\(id)/sample")
        Output.line("\(text("title", of: vendor)): a call that is accepted")
        // Custom fixtures may leave a vendor without a signing key.
        Output.line("  \(calls["sample"].flatMap(curl) ?? "There is none: its fixtures have no key to sign with.")")
        if let refused = calls["refused"].flatMap(curl) {
            Output.line("One that is refused, and the command that says why")
            Output.line("  \(refused)")
            Output.line("  understudy journal --refused --last 1 --vendor \(id)\(options)")
        }
        Output.line()
    }

    /// The options by which the other commands find the same sandbox.
    private var options: String {
        [("server", server.server), ("sandbox", server.client.sandbox)].reduce("") { text, option in
            text + (option.1.map { " --\(option.0) \(Output.quoted($0))" } ?? "")
        }
    }

    /// A call of the server as a command line; `nil` when there is none.
    private func curl(_ call: JSON) -> String? {
        guard call.object != nil else { return nil }
        var command = "curl -i -X \(text("method", of: call)) \(text("url", of: call))"
        var fields = (call["headers"]?.array ?? []).map { $0.array?.compactMap(\.string).joined(separator: ": ") ?? "" }
        if let name = server.client.sandbox { fields.append("x-understudy-sandbox: \(name)") }
        for field in fields { command += " -H \(Output.quoted(field))" }
        let body = text("body", of: call)
        return body.isEmpty ? command : command + " --data-raw \(Output.quoted(body))"
    }

    private func text(_ member: String, of value: JSON) -> String { value[member]?.string ?? "" }
}
