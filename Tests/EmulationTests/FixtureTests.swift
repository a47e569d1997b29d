import Expectations
import HTTPTypes
import JSON
import Support
import Testing

@testable import Emulation

@Suite("Fixtures") struct FixtureTests {
    private enum Failure: String, VendorFailure {
        case denied
        case missing
    }

    static let scope = FailureScope(
        switches: [
            SwitchDeclaration(
                "style", .choice(["plain", "loud"]), documented: "plain", observed: "loud", about: "", source: ""),
            SwitchDeclaration("limit", .count(orWord: "off"), documented: "off", observed: "3", about: "", source: ""),
        ], routes: ["things.list", "things.get"])

    private static let denied = """
          denied:
            about: "no"
            status: 403
            body: { code: 1 }
            evidence: documented
            source: "doc"
        """

    private static let missing = """
          missing:
            about: "gone"
            status: 404
            evidence: ours
            source: "ours"
        """

    private func catalog(_ text: String) throws -> FailureCatalog<Failure> {
        try catalog(in: TemporaryFolder(["v/failures.yaml": text]))
    }

    private func catalog(in folder: TemporaryFolder) throws -> FailureCatalog<Failure> {
        try FailureCatalog(VendorFixtures(store: FixtureStore(layers: [folder.path]), folder: "v"), scope: Self.scope)
    }

    private func problem(_ files: [String: String]) throws -> String? {
        let folder = try TemporaryFolder(files)
        let problem = #expect(throws: FixtureProblem.self) { try catalog(in: folder) }
        return problem?.description.replacing(folder.path + "/", with: "")
    }

    @Test("what another failures.yaml lacks is as installed, with a remark") func lacking() throws {
        let own = "failures:\n  denied: { about: \"own\", status: 418, evidence: ours, source: \"ours\" }\n"
        let folder = try TemporaryFolder(["a/v/failures.yaml": own, "b/v/failures.yaml": Self.whole(Self.denied)])
        let store = FixtureStore(layers: [folder.path + "/a", folder.path + "/b"])
        let listing = try FailureCatalog<Failure>(VendorFixtures(store: store, folder: "v"), scope: Self.scope).listing
        expect(listing.map(\.name), is: ["denied", "missing"])
        expect(listing.map(\.status), is: [418, 404])
        expect(
            store.remarks.map { $0.replacing(folder.path + "/", with: "") },
            is: ["a/v/failures.yaml:2:3: these failures are missing and are as installed: missing"])
    }

    private let plain = SwitchValues(["style": "plain", "limit": "off"])

    private static func whole(_ denied: String) -> String { "failures:\n" + denied + "\n" + missing }

    private static func changed(_ old: String, _ new: String) -> String { whole(denied.replacing(old, with: new)) }

    private static func extended(_ members: String) -> String { whole(denied + "\n    " + members) }

    private static func variant(_ condition: String, _ members: String = "\n        body: {}") -> String {
        extended("variants:\n      - when: " + condition + members)
    }

    /// A text of `failures.yaml`, and the complaint about it with line and column.
    private static let wrong: [(String, String)] = [
        ("", "1:1: the file is empty"), ("# nothing\n", "1:1: the file is empty"),
        ("failures: {}\n---\nfailures: {}", "2:1: a second document begins here; a file has only one"),
        ("failures: *a", "1:11: not YAML: found undefined alias"),
        ("failures: &a [*a]", "1:15: not YAML: found undefined alias"),
        ("failures: {}\nü: \u{1}", "2:4: not YAML: control characters are not allowed"),
        ("{ b: 1, a: 1, b: 2, a: 2 }", "1:9: this mapping has the same member twice: a, b"),
        ("failures: [", "1:11: not YAML: there is no ] for the bracket that begins here"),
        ("a: { b: [1] \nc: 2", "1:4: not YAML: there is no } for the bracket that begins here"),
        ("a: \"b\nc: 1\n", "1:4: not YAML: the quote that begins here is not closed"),
        ("a: \"b\nc: \"d\"\ne: 1", "1:4: not YAML: the quote that begins here is closed only in line 2"),
        ("a: 1\nb\nc: 2", "2:1: not YAML: a name without a colon begins here"),
        (
            "a: b: c",
            "1:5: not YAML: a second colon on this line, or a deeper indentation than before; "
                + "write a text with a colon in quotes"
        ),
        ("a: @b", "1:4: not YAML: no text may begin with this character; write it in quotes"),
        ("a: \"\\d\"", "1:5: not YAML: a backslash in double quotes stands before this; write two, or single quotes"),
        (
            "a: \"b\" c",
            "1:8: not YAML: expected a member's name; the indentation differs from the lines before, "
                + "or a quote stands inside a text"
        ),
        ("a:\n  - b\n  c: 1", "3:3: not YAML: expected another element with -; the indentation differs"),
        ("[1]\nb: 1", "2:1: not YAML: the document ended before this; the indentation differs"),
        ("failures:\n\t- x", "2:1: a tab indents this line; YAML requires spaces"),
        ("text", "1:1: found the string “text”; expected a mapping"),
        ("failures: {}", "1:11: failure “denied” is missing"), ("sources: {}", "1:1: member “failures” is missing"),
        ("failure: {}\nfailures: {}", "1:1: unknown member “failure”; did you mean “failures”?"),
        ("failures:\n" + denied + "\n  mising: {}", "8:3: unknown failure “mising”; did you mean “missing”?"),
        (whole(denied + "\n" + denied), "2:3: this mapping has the same member twice: denied"),
        (changed("403", "4O3"), "4:13: found the string “4O3”; expected a whole number"),
        (changed("403", "199"), "4:13: status 199 is not a number between 200 and 599"),
        (changed("403", "600"), "4:13: status 600 is not a number between 200 and 599"),
        (changed(#""no""#, "404"), "3:12: found the number 404; expected a string; write it in quotes"),
        (changed(#""no""#, "true"), "3:12: found the boolean true; expected a string; write it in quotes"),
        (changed(#""no""#, "[no]"), "3:12: found a list; expected a string"),
        (changed("documented", "rumoured"), "6:15: “rumoured” is not one of documented, observed, inferred, ours"),
        (changed("status", "statsu"), "4:5: unknown member “statsu”; did you mean “status”?"),
        (changed("    about: \"no\"\n", ""), "3:5: member “about” is missing"),
        (changed("code: 1", #""{{feld}}": 1"#), "5:11: “{{feld}}” names nothing that exists"),
        (extended("headers: { \"bad name\": x }"), "8:16: “bad name” is not a field name"),
        (
            extended("headers: { X: \"a\\r\\nY: b\" }"),
            "8:19: a field's value has no line breaks, and no blanks at its ends"
        ),
        (
            changed("{ code: 1 }", "{ text: \"{{nam}}\" }\n    parameters: { name: x }"),
            "5:11: “{{nam}}” names nothing that exists; did you mean “name”?"
        ),
        (variant("{ stile: loud }"), "9:17: unknown switch “stile”; did you mean “style”?"),
        (variant("{ style: lout }"), "9:24: switch style is never “lout”; it can be plain, loud"),
        (variant("{ limit: \"-1\" }"), "9:24: switch limit is never “-1”; it can be a whole number from 0 or off"),
        (variant("{ route: [\"thing.list\"] }"), "9:25: unknown route “thing.list”; did you mean “things.list”?"),
        (variant("{ route: things.list }"), "9:24: found the string “things.list”; expected a list"),
        (variant("{ style: loud }", ""), "9:9: member “body” is missing"),
        (
            variant("{ style: loud }", "\n        headers: { X: \"{{no}}\" }"),
            "10:23: “{{no}}” names nothing that exists"
        ),
        ("envelopes:\n  - body: {}\n" + whole(denied), "2:5: member “when” is missing"),
        (
            "envelopes:\n  - when: { style: loud }\n    body: \"{{inner}}\"\n" + whole(denied),
            "3:11: “{{inner}}” names nothing that exists; known are body"
        ),
    ]

    @Test(
        "a wrong file is refused by file, line and column, with what was found and what would be right",
        arguments: wrong)
    func refused(_ text: String, _ complaint: String) throws {
        expect(try problem(["v/failures.yaml": text]), is: "v/failures.yaml:" + complaint)
    }

    @Test("a time in milliseconds is refused with the seconds that it would be; what is no file may end later")
    func milliseconds() throws {
        let node = try FixtureNode(file: FixtureStore.File(path: "f.yaml", bytes: Array("at: 1800000000000".utf8)))
        let time = try node.mapping("at").required("at")
        for read in [time.moment, time.keptMoment] {
            let problem = #expect(throws: FixtureProblem.self) { try read() }
            expect(
                problem?.description,
                is:
                    "f.yaml:1:5: the number is not a Unix time from 1970 to 9999 in seconds; found milliseconds, expected 1800000000"
            )
        }
        expect(try FixtureNode(1_800_000_000_000, from: "").keptMoment().wholeSeconds, is: 1_800_000_000_000)
    }

    @Test("a file in the folder failures changes the failures that it names, and leaves the others")
    func changedFailures() throws {
        let folder = try TemporaryFolder([
            "v/failures.yaml": Self.whole(Self.denied),
            "v/failures/mine.yaml": "failures:\n" + Self.denied.replacing("403", with: "418"),
            "v/failures/notes.txt": "nobody reads this",
        ])
        let catalog = try catalog(in: folder)
        expect(catalog.response(.denied, [:], route: nil, switches: plain).status.code, is: 418)
        expect(catalog.response(.missing, [:], route: nil, switches: plain).status.code, is: 404)
        expect(catalog.listing.map(\.status), is: [418, 404])
    }

    private static let wrongChanges: [([String: String], String)] = [
        (
            ["a": "failures:\n" + denied.replacing("denied", with: "denid")],
            "a.yaml:2:3: unknown failure “denid”; did you mean “denied”?"
        ),
        (
            ["a": "failures:\n" + denied, "b": "failures:\n" + missing + "\n" + denied],
            "b.yaml:7:3: the file a.yaml changes the failure denied already"
        ),
        (["a": "envelopes: []\nfailures: {}"], "a.yaml:1:1: unknown member “envelopes”; known are failures"),
        (["a": "{}"], "a.yaml:1:1: member “failures” is missing"),
    ]

    @Test("a wrong change is refused, and so are two changes of one failure", arguments: wrongChanges)
    func wrongChange(_ files: [String: String], _ complaint: String) throws {
        var all = ["v/failures.yaml": Self.whole(Self.denied)]
        for (name, text) in files { all["v/failures/\(name).yaml"] = text }
        expect(try problem(all), is: "v/failures/" + complaint)
    }

    @Test("what was judged is read when it is needed; another text, or the same elsewhere, at the start")
    func judged() throws {
        let failures = "failures:\n" + Self.denied
        let scenario = "scenario: x\nabout: a\nvendor: v\nstates: {}\n"
        let folder = try TemporaryFolder([
            "v/failures.yaml": failures, "w/failures.yaml": failures, "v/scenarios/x.yaml": scenario,
        ])
        func mark(_ path: String, _ text: String) -> UInt64 {
            FixtureStore.mark(path, FixtureStore.File(path: "", bytes: Array(text.utf8)).digest)
        }
        let judged = [mark("v/failures.yaml", failures), mark("v/scenarios/x.yaml", scenario)]
        func fixtures(_ folder: String, of store: FixtureStore) -> VendorFixtures {
            VendorFixtures(store: store, folder: folder)
        }
        let store = FixtureStore(layers: [folder.path], judged: judged)
        let catalog = try FailureCatalog<Failure>(fixtures("v", of: store), scope: Self.scope)
        #expect(catalog.listing.isEmpty)
        expect(try Scenario.all(in: fixtures("v", of: store), Rules.scope).map(\.name), is: ["v-x"])
        #expect {
            try FailureCatalog<Failure>(fixtures("w", of: store), scope: Self.scope)
        } throws: {
            "\($0)".hasSuffix("w/failures.yaml:2:3: failure “missing” is missing")
        }
        try folder.write(Array((scenario + "\n").utf8), to: "v/scenarios/x.yaml")
        let changed = FixtureStore(layers: [folder.path], judged: judged)
        #expect {
            try Scenario.all(in: fixtures("v", of: changed), Rules.scope)
        } throws: {
            "\($0)".hasSuffix("v/scenarios/x.yaml:4:9: a scenario needs a state")
        }
    }

    @Test("a file that is not UTF-8, or not there, is named") func unreadable() throws {
        let folder = try TemporaryFolder(["v/x": ""])
        #expect { try catalog(in: folder) } throws: {
            "\($0)" == "v/failures.yaml: no such file; looked in \(folder.path)"
        }
        try folder.write([0x66, 0xFF], to: "v/failures.yaml")
        #expect { try catalog(in: folder) } throws: {
            "\($0)".hasSuffix("v/failures.yaml:1:2: the file is not UTF-8: a byte 0xFF stands here; save it as UTF-8")
        }
        let store = FixtureStore(layers: [folder.path])
        #expect { try store.file("v/x\0y") } throws: { "\($0)".contains("no such file") }
        expect(try problem(["v/failures.yaml/x": ""]), is: "v/failures.yaml: is a folder; expected a file")
    }

    /// What makes the body of `denied` from parameters, by this template and with those of the file.
    private func bodies(_ template: String, _ parameters: String) throws -> (JSONObject) -> String {
        let catalog = try catalog(Self.changed("{ code: 1 }", template + "\n    parameters: " + parameters))
        return { parameters in
            let response = catalog.response(.denied, parameters, route: nil, switches: plain)
            return String(decoding: response.body, as: UTF8.self)
        }
    }

    @Test("parameters take the place of their names, whole or within a text, and stay JSON") func parameters() throws {
        let body = try bodies(
            #"{ whole: "{{n}}", text: "n is {{n}}, t is {{t}}", l: ["{{t}}"] }"#, #"{ n: 7, t: "none" }"#)
        expect(body([:]), is: #"{"whole":7,"text":"n is 7, t is none","l":["none"]}"#)
        expect(body(["t": "\"<&{{n}}"]), is: #"{"whole":7,"text":"n is 7, t is \"<&{{n}}","l":["\"<&{{n}}"]}"#)
        expect(body(["n": [1]]), is: #"{"whole":[1],"text":"n is [1], t is none","l":["none"]}"#)
    }

    @Test("the name of a member takes parameters too") func parametersInNames() throws {
        let body = try bodies(#"{ errors: { "{{field}}": ["{{field}} is wrong"], x: 1 } }"#, "{ field: name }")
        expect(body([:]), is: #"{"errors":{"name":["name is wrong"],"x":1}}"#)
        expect(body(["field": "a\"b"]), is: #"{"errors":{"a\"b":["a\"b is wrong"],"x":1}}"#)
        expect(body(["field": 7]), is: #"{"errors":{"7":["7 is wrong"],"x":1}}"#)
    }

    @Test(
        "a text is read as YAML 1.2: yes and no are strings, quotes make one of anything; anchors and blocks are known",
        arguments: [
            (
                #"[yes, no, on, true, null, ~, 12, 1.50, 1e3, 0x1F, 012, "12", '', 2024-01-01, .inf]"#,
                #"["yes","no","on",true,null,null,12,1.50,1e3,"0x1F","012","12","","2024-01-01",".inf"]"#
            ),
            ("a: &a { x: 1 }\nb: *a\nc: |\n  two\n  lines\n", #"{"a":{"x":1},"b":{"x":1},"c":"two\nlines\n"}"#),
        ])
    func yaml(_ text: String, _ json: String) throws { expect(try Rules.node(text).json().text, is: json) }

    @Test(
        "what reads otherwise than it looks is remarked on, in files of one's own",
        arguments: [
            ("api_key: a #b", "1:10: a comment follows this api_key; write the value in quotes if the # belongs to it"),
            ("secret: a#b", nil), ("about: abc # def", nil), ("secret: \"abc\" # def", nil),
            ("a: “b”", "1:4: the quotes of “b” belong to the text; only \" and ' quote"), ("a: \"“b”\"", nil),
            ("- 'b '", "1:3: the text begins or ends with a blank or with what nobody sees"),
            ("a: b\u{A0}", "1:4: the text begins or ends with a blank or with what nobody sees"),
            ("a: \u{200B}b", "1:4: the text begins or ends with a blank or with what nobody sees"),
            ("a: |\n  b\n", nil), ("a: ''", nil),
            ("a: { b: \"x ${KEY_1}\" }", "1:9: ${KEY_1} stands here as it is; no variable is replaced in fixtures"),
            ("a: ${price}", nil),
        ])
    func remarks(_ text: String, _ remark: String?) throws {
        let (own, installed) = (try TemporaryFolder(["v/x.yaml": text]), try TemporaryFolder(["v/x.yaml": text]))
        let store = FixtureStore(layers: [own.path, installed.path])
        for _ in 1...2 { _ = try store.document("v/x.yaml").json() }
        expect(store.remarks.map { $0.replacing(own.path + "/v/x.yaml:", with: "") }, is: [remark].compactMap { $0 })
        let bottom = FixtureStore(layers: [installed.path])
        _ = try bottom.document("v/x.yaml")
        expect(bottom.remarks, is: [])
    }

    @Test("an upper layer hides a lower one, file by file") func layers() throws {
        let lower = try TemporaryFolder(["v/a": "lower a", "v/b": "lower b"])
        let upper = try TemporaryFolder(["v/a": "upper a", "v/c": "upper c", "v/.hidden": "x"])
        let store = FixtureStore(layers: [upper.path, lower.path + "/"])
        func text(_ path: String) throws -> String { String(decoding: try store.file(path).bytes, as: UTF8.self) }
        expect(try text("v/a"), is: "upper a")
        expect(try text("v/b"), is: "lower b")
        expect(try text("v/c"), is: "upper c")
        expect(store.names(in: "v"), is: ["a", "b", "c"])
        expect(store.names(in: "w"), is: [])
        expect(VendorFixtures(store: store, folder: "v").names(in: "."), is: ["a", "b", "c"])
    }

    @Test("the fingerprint changes with any file that was read, and only then") func fingerprint() throws {
        let folder = try TemporaryFolder(["v/a": "1", "v/deep/b": "2", "w/c": "3"])
        func fingerprint() throws -> String {
            let store = FixtureStore(layers: [folder.path])
            for path in ["v/deep/b", "v/a"] { _ = try store.file(path) }
            return store.fingerprint
        }
        let first = try fingerprint()
        expect(try fingerprint(), is: first)
        try folder.write("4", to: "w/c")
        expect(try fingerprint(), is: first)
        try folder.write("4", to: "v/deep/b")
        #expect(try fingerprint() != first)
        // Longer files are read word by word; the remainder counts too.
        let texts = ["", "\0", "12345678", "12345679", "1234567", "12345678\0", "1234567812345678", "8765432112345678"]
        var prints: Set<String> = []
        for text in texts {
            try folder.write(text, to: "v/a")
            prints.insert(try fingerprint())
        }
        expect(prints.count, is: texts.count)
    }
}
