import Emulation
import JSON
import Support
import Testing
import Understudy

/// Content files with one fault each: the start fails with a message naming file, line, column and valid values.
@Suite("Bloomreach's content files")
struct ContentFixtureTests {
    /// A change that makes a file of the repository invalid.
    struct Fault: Sendable, CustomTestStringConvertible {
        let file: String
        let old: String
        let new: String
        /// Where the message points: the text at that place in the changed file.
        let place: String
        let complaint: String

        var testDescription: String { "\(file): \(complaint)" }
    }

    private static func fault(
        _ file: String, _ old: String, _ new: String, at place: String, _ complaint: String
    ) -> Fault {
        Fault(file: "bloomreach/content/\(file).yaml", old: old, new: new, place: place, complaint: complaint)
    }

    private static let inbox: [Fault] = [
        fault(
            "app-inbox", "demo-project-1:", "demo-project-7:", at: "demo-project-7",
            "accounts.yaml has no project demo-project-7"),
        fault(
            "app-inbox", "ana@example.test", "ann@example.test", at: "{ registered: \"ann",
            "has no customer of project demo-project-1 whose registered"),
        fault("app-inbox", "type: html", "type: htm", at: "htm\n", "“htm” is not one of push, html"),
        fault(
            "app-inbox", "create_time: -99.5s", "create_time: \"soon\"", at: "\"soon\"",
            "“soon” is neither Unix seconds nor a duration such as 30d"),
        fault("app-inbox", "create_time: -99.5s", "create_time: true", at: "true\n", "expected a number"),
        fault(
            "app-inbox", "          create_time: -99.5s\n", "", at: "id: \"msg-push-1\"",
            "member “create_time” is missing"),
        fault(
            "app-inbox", "create_time: -99.5s", "create_time: -1", at: "-1\n", "not a Unix time from 1970 to 9999"),
        fault(
            "app-inbox", "id: \"msg-html-1\"", "id: \"msg-push-1\"", at: "id: \"msg-push-1\"\n          type: html",
            "another message of this inbox has the id msg-push-1"),
        fault("app-inbox", "id: \"msg-html-1\"", "id: \"\"", at: "\"\"\n", "the string is empty"),
        fault(
            "app-inbox", "expire_time: 30d\n          content:\n            title: \"Spring",
            "expires: 30d\n          content:\n            title: \"Spring", at: "expires:",
            "unknown member “expires”"),
        fault(
            "app-inbox", "action: deeplink", "action: deep-link", at: "deep-link\n",
            "“deep-link” is not one of app, browser, deeplink"),
        fault("app-inbox", "silent: false", "silent: \"no\"", at: "\"no\"", "expected true or false"),
        fault(
            "app-inbox", "pre_header: \"Three things to know\"", "pre_header: [1]", at: "[1]", "expected a string"),
        fault(
            "app-inbox", "customer: { registered: \"ben@example.test\" }",
            "customer: { registered: \"ana@example.test\" }",
            at: "customer: { registered: \"ana@example.test\" }\n      messages:\n        - id: \"msg-push-2\"",
            "another entry is for the same customer"),
        fault(
            "app-inbox", "customer: { registered: \"ben@example.test\" }", "customer: {}", at: "{}",
            "expected one id of the customer"),
        fault("app-inbox", "projects:", "project:", at: "project:", "unknown member “project”"),
    ]

    private static let messages: [Fault] = [
        fault("in-app-messages", "      name: \"Welcome\"\n", "", at: "id: \"inapp-1\"", "member “name” is missing"),
        fault("in-app-messages", "variant_id: 1", "variant_id: 1.5", at: "1.5", "expected a whole number"),
        fault("in-app-messages", "message_type: modal", "message_type: model", at: "model", "; did you mean “modal”?"),
        fault("in-app-messages", "load_delay: 500", "load_delay: 0.5", at: "0.5", "expected a whole number"),
        fault(
            "in-app-messages", "from_date: -1000000s", "from_date: soon", at: "soon",
            "“soon” is neither Unix seconds nor a duration"),
        fault("in-app-messages", "from_date: -1000000s", "from_date: 1.5", at: "1.5", "expected a whole number"),
        fault(
            "in-app-messages", "operator: less than", "operator: smaller", at: "smaller",
            "“smaller” is not one of equal to"),
        fault("in-app-messages", "operator: equals", "operator: is", at: "is\n", "“is” is not one of equals"),
        fault(
            "in-app-messages", "type: number", "type: float", at: "float",
            "“float” is not one of string, number, boolean"),
        fault(
            "in-app-messages", "type: number\n              operator: less than",
            "type: number\n              value: \"true\"\n              operator: less than", at: "value: \"true\"\n",
            "only constraints of type boolean have a value"),
        fault(
            "in-app-messages", "{ type: property, property: color }", "{ type: property }", at: "{ type: property }",
            "member “property” is missing"),
        fault(
            "in-app-messages", "operands: [{ type: constant, value: \"blue\" }]",
            "operands: [{ type: constant, value: 1 }]", at: "1 }]", "write it in quotes"),
        fault(
            "in-app-messages", "        title: \"Hello\"", "        titel: \"Hello\"", at: "titel:",
            "unknown member “titel”; did you mean “title”?"),
        fault(
            "in-app-messages", "            button_link: \"https://shop.example.test/sale\"\n",
            "            button_text: \"x\"\n", at: "button_text: \"See it\"", "same member twice"),
        fault(
            "in-app-messages", "- button_text: \"See it\"", "- button_label: \"See it\"",
            at: "button_label: \"See it\"", "unknown member “button_label”"),
        fault(
            "in-app-messages", "            button_type: browser\n            button_link:",
            "            button_action_type: browser\n            button_link:", at: "button_action_type",
            "unknown member “button_action_type”"),
        fault(
            "in-app-messages", "        title_enabled: true", "        title_enable: true", at: "title_enable:",
            "unknown member “title_enable”; did you mean “title_enabled”?"),
        fault(
            "in-app-messages", "is_html: true", "is_html: true\n      payload_html_: x", at: "payload_html_",
            "unknown member “payload_html_”"),
        fault(
            "in-app-messages", "{{customer.first_name}}", "{{reader.first_name}}", at: "id: \"inapp-html-1\"",
            "“{{reader.first_name}}” names nothing that exists"),
        fault(
            "in-app-messages", "id: \"inapp-html-1\"", "id: \"inapp-1\"", at: "id: \"inapp-1\"\n      name: \"Birthday",
            "another entry has the id inapp-1"),
        fault(
            "in-app-messages", "audience: [\"ana@example.test\"]", "audience: []", at: "[]\n$", "expected at least 1"),
        fault(
            "in-app-messages", "is_html: true", "is_html: \"true\"", at: "\"true\"\n      is_rich",
            "expected true or false"),
    ]

    private static let others: [Fault] = [
        fault(
            "content-blocks", "content_type: html", "content_type: text", at: "text\n",
            "“text” is not one of html, native"
        ),
        fault(
            "content-blocks", "delivery: static", "delivery: static\n      audience: [\"a\"]", at: "audience: [\"a\"]",
            "one with an audience has to be personal"),
        fault(
            "content-blocks", "content: { html: \"<div>Hello</div>\" }", "content: { text: \"Hello\" }",
            at: "text: \"Hello\"", "unknown member “text”"),
        fault(
            "content-blocks", "placeholders: [home_top]", "placeholders: home_top", at: "home_top\n    - id",
            "expected a list"),
        fault(
            "content-blocks", "ttl_seconds: 60", "ttl_seconds: -60", at: "id: \"block-2\"",
            "ttl_seconds is -60; expected 0 or more"),
        fault(
            "content-blocks", "id: \"block-2\"", "id: \"block-1\"", at: "id: \"block-1\"\n      name: \"Personal",
            "another entry has the id block-1"),
        fault(
            "consents", "          scenario: true\n", "", at: "crm: true\n          import",
            "member “scenario” is missing"),
        fault("consents", "en: { name: \"Newsletter\"", "en: { name: 1", at: "1,", "expected a string"),
        fault(
            "consents", "legitimate_interest: false\n        sources:\n", "legitimate_interest: no\n        sources:\n",
            at: "no\n", "expected true or false"),
        fault(
            "consents", "consents: { newsletter: true }", "consents: { newsletters: true }", at: "newsletters: true",
            "no consent category newsletters; did you mean “newsletter”?"),
        fault("segments", "discovery:", "discoveries:", at: "discoveries:", "unknown member “discoveries”"),
        fault(
            "segments", "segmentation_id: \"segmentation-1\"", "segmentation_id: 1", at: "1 }]", "expected a string"),
        fault(
            "recommendations", "items: [\"item-1\"]", "items: [\"item-4\"]", at: "\"item-4\"",
            "the catalog has no item item-4"),
        fault(
            "recommendations", "item_id: \"item-2\"", "item_id: \"item-1\"",
            at: "{ item_id: \"item-1\", name: \"Blue plate\"", "another item has the id item-1"),
        fault(
            "recommendations", "name: \"Blue cup\"", "engine_name: \"x\"", at: "{ item_id: \"item-1\"",
            "cannot have the name engine_name"),
        fault(
            "recommendations", "id: \"also-bought\"", "id: \"bestsellers\"",
            at: "id: \"bestsellers\"\n        name: \"also",
            "another engine has the id bestsellers"),
        fault(
            "computed-attributes", "type: prediction", "type: oracle", at: "oracle",
            "“oracle” is not one of segmentation"),
        fault(
            "computed-attributes", "type: prediction\n      id: \"prediction-1\"",
            "type: aggregate\n      id: \"aggregate-1\"",
            at: "type: aggregate\n      id: \"aggregate-1\"\n      values",
            "another entry has the id aggregate aggregate-1"),
    ]

    @Test("a fault is told with its place", arguments: inbox + messages + others)
    func faults(_ fault: Fault) throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(fault.file, [(fault.old, fault.new)])
        let text = try String(contentsOfFile: "\(fixtures.path)/\(fault.file)", encoding: .utf8)
        let original = try String(contentsOfFile: "\(Repository.root)/Fixtures/\(fault.file)", encoding: .utf8)
        #expect(text != original, "the change took place")
        do {
            _ = try fixtures.emulator(of: "bloomreach")
            Issue.record("the file was accepted")
        } catch let problem {
            #expect(problem.file.hasSuffix(fault.file))
            #expect(problem.message.contains(fault.complaint), "\(problem)")
            let place = try #require(Self.place(of: fault.place, in: text), "the place is in the file")
            #expect(problem.line == place.line && problem.column == place.column, "\(problem); expected \(place)")
        }
    }

    /// Line and column, from 1, of the text's first occurrence; with a trailing `$`, of its last one.
    private static func place(of text: String, in file: String) -> (line: Int, column: Int)? {
        let isLast = text.hasSuffix("$")
        let wanted = isLast ? String(text.dropLast()) : text
        let ranges = file.ranges(of: wanted)
        guard let start = (isLast ? ranges.last : ranges.first)?.lowerBound else { return nil }
        let before = file[..<start].split(separator: "\n", omittingEmptySubsequences: false)
        return (before.count, (before.last?.count ?? 0) + 1)
    }

    @Test("what the vendor's own messages hold loads, with a remark where a client may read it otherwise")
    func recorded() async throws {
        let fixtures = try OwnFixtures()
        let messages = "bloomreach/content/in-app-messages.yaml"
        try fixtures.put(
            messages,
            [
                ("button_corner_radius: \"8px\"", "button_corner_radius: \"12dp\""),
                ("frequency: only_once", "frequency: unknown"),
            ])
        let list = "url_params: [{ utm_source: \"x\" }, {}]"
        try fixtures.put(
            "bloomreach/content/app-inbox.yaml",
            [("url_params: { utm_source: \"demo\", utm_medium: \"app_inbox\", utm_campaign: \"news\" }", list)])
        #expect(try fixtures.text("bloomreach/content/app-inbox.yaml").contains("utm_medium: \"app_inbox\""))
        let store = fixtures.store
        let emulator = try Emulator(fixtures: store, loaders: Catalog.vendors.filter { $0.identity.id == "bloomreach" })
        #expect(
            store.remarks.map { $0.replacing(#/^.*yaml:[0-9]+:[0-9]+: /#, with: "") } == [
                "“unknown” is not one of always, only_once, once_per_visit, until_visitor_interacts; known are always, "
                    + "only_once, once_per_visit, until_visitor_interacts",
                "“12dp” is not a size in pixels, such as 22px; iOS reads 0 from any other unit",
            ])
        let world = try await World(on: Stage(emulator))
        let inbox = try await world.fetchInbox()
        #expect(inbox.text.contains(#""url_params":[{"utm_source":"x"},{}]"#), "\(inbox.text)")
    }

    @Test("a file may say nothing of a project, and the project has no such content then")
    func silence() async throws {
        let fixtures = try OwnFixtures()
        for name in ["app-inbox", "in-app-messages", "content-blocks", "consents", "segments", "recommendations"] {
            try fixtures.write("projects: {}", to: "bloomreach/content/\(name).yaml")
        }
        let world = try await World(on: Stage(fixtures.emulator(of: "bloomreach")))
        try await world.fetchInbox().expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.1.0"}"#)
        try await world.call(.get, ContentExample.consents, .token)
            .expect(200, #"{"success":true,"results":[]}"#)
        try await world.call(.get, ContentExample.bundle).expect(200, #"{"success":true,"in_app_content_blocks":[]}"#)
    }

    @Test("what a file leaves out is answered as null, and native content as it stands")
    func defaults() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.write(
            """
            projects:
              demo-project-1:
                - id: "b"
                  name: "B"
                  delivery: personal
                  date_filter: { enabled: false }
                  frequency: always
                  content_type: native
                  content: { title: "{{customer.registered}}", "{{x": [1, null] }
                  placeholders: []
            """, to: "bloomreach/content/content-blocks.yaml")
        let error = #expect(throws: FixtureProblem.self) { try fixtures.emulator(of: "bloomreach") }
        #expect(error?.message.contains("{{x") == true, "names of members are templates too")
        try fixtures.put("bloomreach/content/segments.yaml", [])
        try fixtures.write(
            try String(contentsOfFile: "\(fixtures.path)/bloomreach/content/content-blocks.yaml", encoding: .utf8)
                .replacing("{{x", with: "x"), to: "bloomreach/content/content-blocks.yaml")
        let world = try await World(on: Stage(fixtures.emulator(of: "bloomreach")))
        try await world.call(
            .post, ContentExample.blocks, .token, ContentExample.ofAna(#""content_block_ids":["b"]"#)
        ).expect(
            200,
            #"{"success":true,"data":[{"id":"b","status":"OK","ttl_seconds":60,"variant_id":0,"#
                + #""variant_name":"Variant A","has_tracking_consent":true,"content_type":"native","#
                + #""content":{"title":"ana@example.test","x":[1,null]}}]}"#)
    }
}
