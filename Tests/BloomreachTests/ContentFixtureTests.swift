import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy

/// Content files with one fault each: the start fails with a message naming file, line, column and valid values.
@Suite("Bloomreach's content files") struct ContentFixtureTests {
    /// A change that makes a file invalid, with the text in the changed file at which the message points.
    typealias Fault = (file: String, old: String, new: String, place: String, complaint: String)

    private static func fault(of file: String) -> @Sendable (String, String, String, String) -> Fault {
        { ("bloomreach/content/\(file).yaml", $0, $1, $2, $3) }
    }

    private static let appInbox = fault(of: "app-inbox")
    private static let inAppMessages = fault(of: "in-app-messages")
    private static let contentBlocks = fault(of: "content-blocks")
    private static let consents = fault(of: "consents")
    private static let segments = fault(of: "segments")
    private static let recommendations = fault(of: "recommendations")
    private static let computedAttributes = fault(of: "computed-attributes")

    private static let inboxes: [Fault] = [
        appInbox("demo-project-1:", "demo-project-7:", "demo-project-7", "accounts.yaml has no project demo-project-7"),
        appInbox(
            "ana@example.test", "ann@example.test", #"{ registered: "ann"#,
            "has no customer of project demo-project-1 whose registered"),
        appInbox("type: html", "type: htm", "htm\n", "“htm” is not one of push, html"),
        appInbox(
            "create_time: -99.5s", #"create_time: "soon""#, #""soon""#,
            "“soon” is neither Unix seconds nor a duration such as 30d"),
        appInbox("create_time: -99.5s", "create_time: true", "true\n", "expected a number"),
        appInbox("          create_time: -99.5s\n", "", #"id: "msg-push-1""#, "member “create_time” is missing"),
        appInbox("create_time: -99.5s", "create_time: -1", "-1\n", "not a Unix time from 1970 to 9999"),
        appInbox(
            #"id: "msg-html-1""#, #"id: "msg-push-1""#, "id: \"msg-push-1\"\n          type: html",
            "another message of this inbox has the id msg-push-1"),
        appInbox(#"id: "msg-html-1""#, #"id: """#, "\"\"\n", "the string is empty"),
        appInbox(
            "expire_time: 30d\n          content:\n            title: \"Spring",
            "expires: 30d\n          content:\n            title: \"Spring", "expires:", "unknown member “expires”"),
        appInbox(
            "action: deeplink", "action: deep-link", "deep-link\n",
            "“deep-link” is not one of app, browser, deeplink"),
        appInbox("silent: false", #"silent: "no""#, #""no""#, "expected true or false"),
        appInbox(#"pre_header: "Three things to know""#, "pre_header: [1]", "[1]", "expected a string"),
        appInbox(
            #"customer: { registered: "ben@example.test" }"#, #"customer: { registered: "ana@example.test" }"#,
            "customer: { registered: \"ana@example.test\" }\n      messages:\n        - id: \"msg-push-2\"",
            "another entry is for the same customer"),
        appInbox(
            #"customer: { registered: "ben@example.test" }"#, "customer: {}", "{}",
            "expected one id of the customer"),
        appInbox("projects:", "project:", "project:", "unknown member “project”"),
    ]

    private static let messages: [Fault] = [
        inAppMessages("      name: \"Welcome\"\n", "", #"id: "inapp-1""#, "member “name” is missing"),
        inAppMessages("variant_id: 1", "variant_id: 1.5", "1.5", "expected a whole number"),
        inAppMessages("message_type: modal", "message_type: model", "model", "; did you mean “modal”?"),
        inAppMessages("load_delay: 500", "load_delay: 0.5", "0.5", "expected a whole number"),
        inAppMessages(
            "from_date: -1000000s", "from_date: soon", "soon", "“soon” is neither Unix seconds nor a duration"),
        inAppMessages("from_date: -1000000s", "from_date: 1.5", "1.5", "expected a whole number"),
        inAppMessages("operator: less than", "operator: smaller", "smaller", "“smaller” is not one of equal to"),
        inAppMessages("operator: equals", "operator: is", "is\n", "“is” is not one of equals"),
        inAppMessages("type: number", "type: float", "float", "“float” is not one of string, number, boolean"),
        inAppMessages(
            "type: number\n              operator: less than",
            "type: number\n              value: \"true\"\n              operator: less than", "value: \"true\"\n",
            "only constraints of type boolean have a value"),
        inAppMessages(
            "{ type: property, property: color }", "{ type: property }", "{ type: property }",
            "member “property” is missing"),
        inAppMessages(
            #"operands: [{ type: constant, value: "blue" }]"#, "operands: [{ type: constant, value: 1 }]", "1 }]",
            "write it in quotes"),
        inAppMessages(
            #"        title: "Hello""#, #"        titel: "Hello""#, "titel:",
            "unknown member “titel”; did you mean “title”?"),
        inAppMessages(
            "            button_link: \"https://shop.example.test/sale\"\n", "            button_text: \"x\"\n",
            #"button_text: "See it""#, "same member twice"),
        inAppMessages(
            #"- button_text: "See it""#, #"- button_label: "See it""#, #"button_label: "See it""#,
            "unknown member “button_label”"),
        inAppMessages(
            "            button_type: browser\n            button_link:",
            "            button_typ: browser\n            button_link:", "button_typ:",
            "unknown member “button_typ”"),
        inAppMessages(
            "        title_enabled: true", "        title_enable: true", "title_enable:",
            "unknown member “title_enable”; did you mean “title_enabled”?"),
        inAppMessages(
            "is_html: true", "is_html: true\n      payload_html_: x", "payload_html_",
            "unknown member “payload_html_”"),
        inAppMessages(
            "{{customer.first_name}}", "{{reader.first_name}}", #"id: "inapp-html-1""#,
            "“{{reader.first_name}}” names nothing that exists"),
        inAppMessages(
            #"id: "inapp-html-1""#, #"id: "inapp-1""#, "id: \"inapp-1\"\n      name: \"Birthday",
            "another entry has the id inapp-1"),
        inAppMessages(#"audience: ["ana@example.test"]"#, "audience: []", "[]\n$", "expected at least 1"),
        inAppMessages("is_html: true", #"is_html: "true""#, "\"true\"\n      is_rich", "expected true or false"),
    ]

    private static let others: [Fault] = [
        contentBlocks("content_type: html", "content_type: text", "text\n", "“text” is not one of html, native"),
        contentBlocks(
            "delivery: static", "delivery: static\n      audience: [\"a\"]", #"audience: ["a"]"#,
            "one with an audience has to be personal"),
        contentBlocks(
            #"content: { html: "<div>Hello</div>" }"#, #"content: { text: "Hello" }"#, #"text: "Hello""#,
            "unknown member “text”"),
        contentBlocks("placeholders: [home_top]", "placeholders: home_top", "home_top\n    - id", "expected a list"),
        contentBlocks(
            "ttl_seconds: 60", "ttl_seconds: -60", #"id: "block-2""#, "ttl_seconds is -60; expected 0 or more"),
        contentBlocks(
            #"id: "block-2""#, #"id: "block-1""#, "id: \"block-1\"\n      name: \"Personal",
            "another entry has the id block-1"),
        consents("          scenario: true\n", "", "crm: true\n          import", "member “scenario” is missing"),
        consents(#"en: { name: "Newsletter""#, "en: { name: 1", "1,", "expected a string"),
        consents(
            "legitimate_interest: false\n        sources:\n", "legitimate_interest: no\n        sources:\n", "no\n",
            "expected true or false"),
        consents(
            "consents: { newsletter: true }", "consents: { newsletters: true }", "newsletters: true",
            "no consent category newsletters; did you mean “newsletter”?"),
        segments("discovery:", "discoveries:", "discoveries:", "unknown member “discoveries”"),
        segments(#"segmentation_id: "segmentation-1""#, "segmentation_id: 1", "1 }]", "expected a string"),
        recommendations(#"items: ["item-1"]"#, #"items: ["item-4"]"#, #""item-4""#, "the catalog has no item item-4"),
        recommendations(
            #"item_id: "item-2""#, #"item_id: "item-1""#, #"{ item_id: "item-1", name: "Blue plate""#,
            "another item has the id item-1"),
        recommendations(
            #"name: "Blue cup""#, #"engine_name: "x""#, #"{ item_id: "item-1""#, "cannot have the name engine_name"),
        recommendations(
            #"id: "also-bought""#, #"id: "bestsellers""#, "id: \"bestsellers\"\n        name: \"also",
            "another engine has the id bestsellers"),
        computedAttributes("type: prediction", "type: oracle", "oracle", "“oracle” is not one of segmentation"),
        computedAttributes(
            "type: prediction\n      id: \"prediction-1\"", "type: aggregate\n      id: \"aggregate-1\"",
            "type: aggregate\n      id: \"aggregate-1\"\n      values",
            "another entry has the id aggregate aggregate-1"),
    ]

    @Test("a fault is told with its place", arguments: inboxes + messages + others)
    func faults(_ name: String, _ old: String, _ new: String, _ place: String, _ complaint: String) throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(name, [(old, new)])
        let text = try String(contentsOfFile: "\(fixtures.path)/\(name)", encoding: .utf8)
        let original = try String(contentsOfFile: "\(Repository.root)/Fixtures/\(name)", encoding: .utf8)
        #expect(text != original, "the change took place")
        do {
            _ = try fixtures.emulator(of: "bloomreach")
            Issue.record("the file was accepted")
        } catch let problem {
            #expect(problem.file.hasSuffix(name))
            #expect(problem.message.contains(complaint), "\(problem)")
            let point = try #require(Self.place(of: place, in: text), "the place is in the file")
            #expect(problem.line == point.line && problem.column == point.column, "\(problem); expected \(point)")
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
        expect(
            store.remarks.map { $0.replacing(#/^.*yaml:[0-9]+:[0-9]+: /#, with: "") },
            is: [
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
        expect(error?.message.contains("{{x"), is: true, "names of members are templates too")
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
