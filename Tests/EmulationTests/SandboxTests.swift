import Expectations
import Support
import Testing

@testable import Emulation

@Suite("Sandboxes") struct SandboxTests {
    @Test(
        "a name has 1 to 63 lower-case letters, digits and hyphens",
        arguments: [
            ("a", true), ("default", true), ("case-7", true), ("0", true), ("-", true),
            (String(repeating: "x", count: 63), true), (String(repeating: "x", count: 64), false), ("", false),
            ("A", false), ("a_b", false), ("a.b", false), ("a b", false), ("ä", false), ("a/b", false), ("a\n", false),
        ])
    func names(_ name: String, _ isValid: Bool) { expect(SandboxName.isValid(name), is: isValid) }

    /// Its sandboxes live for a minute by that clock, or as long as there is room.
    private func directory(_ clock: MachineClock? = nil) -> SandboxDirectory {
        let limits = SandboxLimits(timeToLive: clock.map { _ in Duration.seconds(60) })
        return SandboxDirectory(inForce: .nobody, settings: Settings(), limits: limits) {
            clock?.now ?? SandboxClock.machine
        }
    }

    @Test("a sandbox comes into being when it is named and stays the same") func creation() {
        let directory = directory()
        #expect(directory.existing("a") == nil)
        let sandbox = directory.sandbox("a")
        #expect(directory.sandbox("a") === sandbox)
        #expect(directory.existing("a") === sandbox)
        expect(directory.all.map(\.name), is: ["default", "a"])
        #expect(directory.sandbox("default") === directory.standard)
    }

    @Test("a sandbox that is removed begins anew; the standard one is reset instead") func removal() throws {
        let directory = directory()
        let first = directory.sandbox("a")
        #expect(try directory.remove("a"))
        #expect(try !directory.remove("a"))
        #expect(directory.sandbox("a") !== first)
        let standard = directory.standard
        standard.arm([try Rules.fault(#"{ route: r, fail: f }"#)])
        _ = standard.adjustClock { $0.freeze() }
        #expect(try directory.remove("default"))
        #expect(directory.standard === standard)
        expect(standard.faults, is: [])
        expect(standard.clock, is: SandboxClock())
    }

    @Test("the standard sandbox never expires, and a sandbox's own clock has no say in it") func noExpiry() throws {
        let machine = MachineClock()
        let directory = directory(machine)
        let standard = directory.standard
        let sandbox = directory.sandbox("a")
        _ = sandbox.adjustClock { $0.advance(by: .seconds(3600)) }
        #expect(directory.sandbox("a") === sandbox)
        machine.advance(.seconds(100_000))
        #expect(directory.sandbox("default") === standard)
        expect(directory.all.map(\.name), is: ["default"])
        expect(directory.setTimeToLive(.seconds(1), of: "default").timeToLive, is: nil)
    }

    @Test("what a sweep drops is really let go") func sweep() {
        let machine = MachineClock()
        let directory = directory(machine)
        weak var dropped: Sandbox?
        dropped = directory.sandbox("a")
        #expect(dropped != nil)
        machine.advance(.seconds(60))
        directory.sweep()
        #expect(dropped == nil)
    }

    @Test("a seed stops a clock that shows the machine's time, and no other") func seededClock() {
        let directory = directory()
        let seed = { (sandbox: Sandbox, seed: UInt64?) in _ = sandbox.adjustSettings { $0.seed = seed } }
        let plain = directory.sandbox("plain")
        seed(plain, 1)
        expect(plain.now.rfc3339, is: "2027-01-15T08:00:00.000Z")
        #expect(plain.clock.isFrozen)
        seed(plain, nil)
        expect(plain.now, is: SandboxClock.seededStart, "taking the seed back does not move the clock")
        let frozen = directory.sandbox("frozen")
        _ = frozen.adjustClock { clock in
            clock.freeze()
            clock.set(to: Moment(unixSeconds: 7))
        }
        seed(frozen, 1)
        expect(frozen.now, is: Moment(unixSeconds: 7))
        let moved = directory.sandbox("moved")
        let clock = moved.adjustClock { $0.advance(by: .seconds(60)) }
        seed(moved, 1)
        expect(moved.clock, is: clock)
    }

    @Test("ids with a seed are repeatable, other seeds give others, and without one nobody can tell") func seeds() {
        let ids = { (seed: UInt64?) in
            let source = IdentifierSource(seed: seed)
            return (0..<4).map { _ in source.uuid() }
        }
        expect(ids(7), is: ids(7))
        #expect(ids(7) != ids(8))
        #expect(ids(nil) != ids(nil))
        let source = IdentifierSource(seed: 7)
        let first = source.uuid()
        source.reseed(7)
        expect(source.uuid(), is: first)
    }

    @Test("a seeded id is the same on every platform and in every release")
    func knownIDs() { expect(IdentifierSource(seed: 42).uuid(), is: "bdd73226-2feb-4e95-a8ef-e333b266f103") }

    @Test("ids are version 4 UUIDs in lower case, all different") func form() {
        let source = IdentifierSource()
        let ids = (0..<500).map { _ in source.uuid() }
        expect(Set(ids).count, is: ids.count)
        for id in ids {
            #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
    }
}

extension VendorsInForce {
    static let nobody = VendorsInForce(LoadedVendors(vendors: [], fingerprint: ""))
}

@Suite("Moments and durations") struct MomentTests {
    @Test(
        "Unix seconds and RFC 3339 times are read",
        arguments: [
            ("0", 0), ("1800000000", 1_800_000_000), ("1800000000.25", 1_800_000_000.25),
            ("253402300799", 253_402_300_799), ("2027-01-15T08:00:00Z", 1_800_000_000),
            ("2027-01-15t08:00:00z", 1_800_000_000), ("2027-01-15T08:00:00+00:00", 1_800_000_000),
            ("2027-01-15T09:30:00+01:30", 1_800_000_000), ("2027-01-15T00:00:00-08:00", 1_800_000_000),
            ("2027-01-15T08:00:00.5Z", 1_800_000_000.5), ("2027-01-15T08:00:00.250Z", 1_800_000_000.25),
            ("2027-01-15T08:00:00.123456Z", 1_800_000_000.123456), ("2027-01-15T08:00:00.000+00:00", 1_800_000_000),
            ("2027-01-15T08:00:00-00:00", 1_800_000_000), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("1970-01-01T00:00:00Z", 0), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Double)])
    func reads(_ text: String, _ seconds: Double) throws {
        let moment = try #require(Moment(text: text))
        #expect(abs(moment.unixSeconds - seconds) < 0.000_001)
    }

    @Test(
        "everything else is not a moment",
        arguments: [
            "", " ", "now", "nan", "-nan", "inf", "-inf", "infinity", "-1", "253402300800", "1e400", "0x10", "1_000",
            " 1800000000", "1800000000 ", "2027-01-15", "08:00:00", "2027-01-15T08:00:00", "2027-01-15 08:00:00Z",
            "2027-01-15T08:00Z", "2027-01-15T08:00:00.Z", "2027-13-01T00:00:00Z", "2027-02-30T00:00:00Z",
            "2023-02-29T00:00:00Z", "2027-01-15T24:00:00Z", "2027-01-15T08:60:00Z", "2027-01-15T08:00:61Z",
            "2027-01-15T08:00:00+25:00", "2027-01-15T08:00:00+1:00", "2027-01-15T08:00:00Z!", "x2027-01-15T08:00:00Z",
            "+2027-01-15T08:00:00Z", "27-01-15T08:00:00Z", "1969-12-31T23:59:59Z", "10000-01-01T00:00:00Z",
            "2027-01-15T08:00:00Z2027-01-15T08:00:00Z", "２０２７-01-15T08:00:00Z",
        ])
    func refuses(_ text: String) { expect(Moment(text: text), is: nil) }

    @Test(
        "a moment is shown in UTC with milliseconds, never later than it is",
        arguments: [
            (1_800_000_000, "2027-01-15T08:00:00.000Z"), (1_800_000_000.9996, "2027-01-15T08:00:00.999Z"),
            (1_799_999_999.999, "2027-01-15T07:59:59.999Z"), (0, "1970-01-01T00:00:00.000Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
        ] as [(Double, String)])
    func shows(_ seconds: Double, _ text: String) { expect(Moment(unixSeconds: seconds).rfc3339, is: text) }

    @Test("whole seconds are rounded down and stay integers whatever the moment is") func wholeSeconds() {
        expect(Moment(unixSeconds: 1.9).wholeSeconds, is: 1)
        expect(Moment(unixSeconds: -0.1).wholeSeconds, is: -1)
        expect(Moment(unixSeconds: 1e300).wholeSeconds, is: .max)
        expect(Moment(unixSeconds: -1e300).wholeSeconds, is: .min)
    }

    @Test("moments are compared and moved") func arithmetic() {
        let moment = Moment(unixSeconds: 100)
        #expect(moment < moment + .milliseconds(1))
        #expect(moment - .seconds(1) < moment)
        expect((moment + .seconds(31 * 60)).unixSeconds, is: 1960)
    }

    @Test(
        "durations are read",
        arguments: [
            ("250ms", 0.25), ("90s", 90), ("31m", 1860), ("2h", 7200), ("1d", 86_400), ("0s", 0), ("-5m", -300),
            ("1.5h", 5400), ("0.5s", 0.5),
        ] as [(String, Double)])
    func readsDuration(_ text: String, _ seconds: Double) throws {
        expect(try #require(Duration(text: text)).inSeconds, is: seconds)
    }

    @Test(
        "everything else is not a duration",
        arguments: [
            "", "s", "ms", "5", "5x", "m5", "5 s", " 5s", "nans", "infs", "--5s", "1h30m", "5S", "0x5s", "1e400s",
            "400000d", "１s", "1.s", ".5s", "1.2.3s", "-s", "-.s", "+5s", "1e3s",
        ])
    func refusesDuration(_ text: String) { expect(Duration(text: text), is: nil) }
}

@Suite("What somebody may have meant") struct NearestTests {
    @Test(
        "names that somebody may have meant are found",
        arguments: [
            ("stile", "; did you mean “style”?"), ("limits", "; did you mean “limit”?"),
            ("something-else", "; known are style, limit"),
        ])
    func nearest(_ name: String, _ hint: String) {
        expect(Nearest.hint(to: name, among: ["style", "limit"]), is: hint)
    }

    @Test(
        "what little tells two texts apart is named",
        arguments: [
            ("STYLE", "style", "Only capitals differ"), ("a/b/", "a/b", "Only a final slash differs"),
            (" a\t", "a", "Only blanks or quotes differ"), ("http://x/cb", "https://x/cb", "Only the scheme differs"),
            ("http://x:1/cb", "http://x:2/cb", "Only the port differs"),
            ("a%2Fb", "a/b", "Only the percent-encoding differs"),
            ("http://127.0.0.1/cb", "http://localhost/cb", "Only the host's name differs"),
            ("http://x//cb", "http://x/cb", "Only a doubled slash differs"),
            ("x/cb", "http://x/cb", "Only the scheme differs"),
            ("http://X:1/cb/", "http://x/cb", "Only capitals, the port and a final slash differ"), ("a", "a", nil),
            ("a", "b", nil),
        ])
    func difference(_ found: String, _ expected: String, _ difference: String?) {
        expect(Nearest.difference(found, expected), is: difference)
    }

    @Test(
        "a credential in another form is named, and not repeated",
        arguments: [
            ("a+b%20c", "It is the key."), ("YStiJTIwYw==", "It is the key in base64."),
            ("YStiJTIwYw", "It is the key in base64."),
            (
                "a b c",
                "It is the key, decoded as in a form: encode + as %2B and % as %25 first (RFC 6749 section 2.3.1)."
            ),
            ("Bearer a+b%20c", "It differs from the key. Only a scheme differs, and every byte counts."),
            ("\"a+b%20c\"", "It differs from the key. Only blanks or quotes differ, and every byte counts."),
            ("a+b%20c\n", "It differs from the key. Only blanks or quotes differ, and every byte counts."),
            ("something else", nil), ("", nil),
        ])
    func credential(_ found: String, _ told: String?) {
        expect(found.credentialMistake(among: [("a+b%20c", "the key")]), is: told)
    }

    @Test(
        "what stands in place of base64 of ID:SECRET is named",
        arguments: [
            ("client:secret!", "Basic with ID:SECRET that is not in base64"),
            ("client:c2VjcmV0IQ==", "Basic with base64 of a part of ID:SECRET"),
            ("Y2xpZW50:c2VjcmV0IQ==", "Basic with base64 of a part of ID:SECRET"),
            ("WTJ4cFpXNTBPbk5sWTNKbGRDRT0=", "Basic with base64 of base64"),
            ("c2VjcmV0IQ==", "Basic with base64 of a text without a colon"),
            ("Basic Y2xpZW50", "Basic twice"), ("!", "Basic that is not base64 of ID:SECRET"),
        ])
    func basic(_ text: String, _ told: String) { expect(BasicCredentials.mistake(in: Array(text.utf8)[...]), is: told) }

    @Test(
        "of known names the first five are told",
        arguments: [
            ([], "; none is known"), (["a", ""], "; known are a, an empty text"),
            (["a", "b", "c", "d", "e", "f", "g"], "; known are a, b, c, d, e and 2 more"),
        ])
    func known(_ names: [String], _ told: String) { expect(Nearest.known(names), is: told) }
}
