import ArgumentParser
import Emulation
import JSON
import Tokens
import Understudy

/// `understudy token mint`
struct TokenMintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mint", abstract: "Makes a token, good or wrong in one way.",
        discussion: """
            Example: understudy token mint rezolve login --defect expired
            Example: understudy token mint rezolve registration --with partner=3 --with partner_entity_id=user-7

            Without a kind it lists the kinds. Defects of every vendor:
            \(Defect.names.joined(separator: ", "))
            """)

    @Argument(help: "The vendor.", completion: .vendors)
    var vendor: String

    @Argument(help: "The kind of token; without one, the kinds are listed.", completion: .tokenKinds)
    var kind: String?

    @Option(help: "What to make wrong with the token.", completion: .defects)
    var defect: String?

    @Option(name: .customLong("with"), help: "A member of the kind, NAME=VALUE, such as expires_in=60.")
    var members: [String] = []

    @Option(name: .customLong("claim"), help: "A claim, NAME=VALUE; the value is JSON, otherwise a string.")
    var claims: [String] = []

    @Option(
        name: .customLong("header"), help: "A member of the header, NAME=VALUE; the value is JSON, otherwise a string.")
    var header: [String] = []

    @Flag(help: "Write JSON with token, header and claims.")
    var json = false

    @OptionGroup var place: TokenPlace

    func run() throws {
        guard let kind else { return try listKinds() }
        let order = try order()
        if let answer = try place.answer("tokens/\(vendor)/\(kind)", order) { return show(answer) }
        let emulator = try place.world.emulator()
        let index = try emulator.index(of: vendor)
        let mounted = emulator.vendors[index]
        guard mounted.tokenKinds.contains(where: { $0.name == kind }) else {
            let kinds = mounted.tokenKinds.map(\.name)
            throw Misuse("\(vendor) has no token of kind \(kind)\(Nearest.hint(to: kind, among: kinds))")
        }
        do {
            let sandbox = emulator.sandboxes.standard
            let minted = try sandbox.vendor(index).mint(
                MintRequest(kind: kind, members: order), at: try MomentOption.parse(place.at), by: .none,
                sandbox.identifiers)
            show(minted.json)
        } catch let refusal as MintRefusal {
            throw Misuse(refusal.description)
        }
    }

    private func order() throws -> JSONObject {
        var order = JSONObject()
        for text in members {
            let (name, value) = try NamedValue.parse(text, option: "--with")
            order[name] = .string(value)
        }
        if let defect { order["defect"] = .string(defect) }
        if !header.isEmpty { order["header"] = .object(try NamedValue.members(header, option: "--header")) }
        if !claims.isEmpty { order["claims"] = .object(try NamedValue.members(claims, option: "--claim")) }
        return order
    }

    private func show(_ minted: JSON) {
        if json { Output.json(minted) } else { Output.line(minted["token"]?.string ?? "") }
    }

    private func listKinds() throws {
        let emulator = try place.world.emulator()
        for kind in emulator.vendors[try emulator.index(of: vendor)].tokenKinds {
            Output.line("\(kind.name): \(kind.about)")
            Output.table(kind.members.map { ["  --with \($0.name)=…", $0.about] })
            if !kind.defects.isEmpty { Output.line("  own defects: \(kind.defects.joined(separator: ", "))") }
        }
    }
}

extension Emulator {
    func index(of vendor: String) throws -> Int {
        guard let index = vendors.firstIndex(where: { $0.identity.id == vendor }) else {
            throw Misuse("no vendor is called \(vendor)\(Nearest.hint(to: vendor, among: vendors.map(\.identity.id)))")
        }
        return index
    }
}
