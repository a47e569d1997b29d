import Emulation
import JSON

/// The document in a sandbox's file.
struct KeptSandbox {
    /// The version of the document's form; a new form gets a new number, and older ones remain readable.
    static let format = 1

    /// What ``Sandbox/kept`` gave.
    let kept: FixtureMapping
    /// Parts that could not be read earlier, as they were found.
    let setAside: [JSON]
    /// When the sandbox was last used, by the machine's clock.
    let used: Moment

    /// Reads a file's content.
    ///
    /// - Parameter salvage: collects what cannot be read later, part by part.
    /// - Throws: what is wrong with the document as a whole.
    init(_ content: [UInt8], of file: StateFolder.File, settingAside salvage: Salvage) throws(FixtureProblem) {
        let json: JSON
        do {
            json = try JSON.parse(content, maximumDepth: Emulator.documentDepth)
        } catch {
            throw FixtureProblem(
                file: file.name, line: error.line, column: error.column, message: "not JSON: \(error.reason)")
        }
        let document = try FixtureNode(json, from: file.name, settingAside: salvage).mapping(
            "understudy_sandbox", "version", "name", "saved_at", "used_at", "set_aside", "kept")
        let format = try document.required("understudy_sandbox")
        guard (1...Self.format).contains(try format.int()) else {
            throw format.problem("the file has another form than \(Self.format), which this release reads")
        }
        let name = try document.required("name")
        guard try name.string() == file.sandbox else {
            throw name.problem("the file is of the sandbox \(try name.string()), not of \(file.sandbox)")
        }
        used = try document.required("used_at").moment()
        kept = try document.required("kept").mapping(Sandbox.keptMembers)
        var parts: [JSON] = []
        for part in try document["set_aside"]?.elements() ?? [] { parts.append(try part.verbatim()) }
        setAside = parts
    }

    /// The time to live that it keeps; the standard one unless it has its own.
    func timeToLive(or standard: Duration?) throws(FixtureProblem) -> Duration? {
        try kept["ttl_seconds"].map(Sandbox.timeToLive) ?? standard
    }

    /// A file's content.
    ///
    /// - Parameter kept: what ``Sandbox/kept`` gave, as text.
    static func content(
        _ kept: [UInt8], of file: StateFolder.File, setAside: [JSON], used: Moment, at moment: Moment
    ) -> [UInt8] {
        var document: JSONObject = [
            "understudy_sandbox": JSON(format), "version": .string(Emulator.version), "name": .string(file.sandbox),
            "saved_at": moment.written, "used_at": used.written,
        ]
        if !setAside.isEmpty { document["set_aside"] = .array(setAside) }
        // The long part is text already, and is written as it is.
        return JSON.object(document).bytes.dropLast() + Array(#","kept":"#.utf8) + kept + Array("}\n".utf8)
    }
}
