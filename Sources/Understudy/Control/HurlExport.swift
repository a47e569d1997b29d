import Emulation
import HTTPTypes
import JSON
import Wire

/// A sandbox's calls as contract cases that pass when replayed from a fresh sandbox.
///
/// It omits what the journal masks. A token is minted again, with the defect it had; a value from an earlier answer is
/// captured from the answer to the same call; a call that contains another secret is left out, and a comment says so.
struct HurlExport {
    private let entries: [JournalEntry]
    private let call: ControlCall

    init(_ entries: [JournalEntry], _ call: ControlCall) {
        self.entries = entries
        self.call = call
    }

    var text: String {
        var values = CapturedValues(of: entries)
        var parts = [preparation]
        var moment: Moment?
        // The vendors whose records may differ, since a call that changed them was left out.
        var strange: Set<String?> = []
        for (index, entry) in entries.enumerated() {
            var part = HurlPart(entry, masked: MaskedExchange(entry, by: call.sandbox.redactor))
            do throws(HurlOmission) {
                if strange.contains(entry.record.vendor) {
                    throw HurlOmission(why: "which may need an omitted call")
                }
                let calls = try part.prepare(&values, index, of: call)
                if moment != entry.moment { parts.append(Self.clock(entry.moment)) }
                moment = entry.moment
                parts += calls + [try part.text(values, index)]
            } catch {
                values.forget(givenBy: index, tokens: part.named)
                if entry.changesSomething { strange.insert(entry.record.vendor) }
                parts.append("# left out: \(part.title), \(error.why)\n")
            }
        }
        return parts.joined(separator: "\n")
    }

    private static func clock(_ moment: Moment) -> String {
        """
        PUT {{base}}/_understudy/clock
        {"now":"\(moment.rfc3339)","freeze":true}
        HTTP 200

        """
    }

    private var preparation: String {
        """
        # Calls from the journal of sandbox \(call.sandboxName). They begin in a fresh sandbox: what changed users before the
        # first of them, and faults and scenarios, are not repeated.
        POST {{base}}/_understudy/reset
        HTTP 204

        PUT {{base}}/_understudy/settings
        \(settings.text)
        HTTP 200

        """
    }

    /// The profile, and the switches that differ from it.
    private var settings: JSON {
        let settings = call.sandbox.settings
        var switches = JSONObject()
        for vendor in call.emulator.vendors {
            let id = vendor.identity.id
            let values = settings.values(vendor: id, vendor.switchDeclarations)
            for each in vendor.switchDeclarations where values[each.name] != each.value(in: settings.profile) {
                switches.append("\(id).\(each.name)", .string(values[each.name]))
            }
        }
        return ["profile": .string(settings.profile.rawValue), "switches": .object(switches)]
    }
}

extension JournalEntry {
    /// Whether the call may have changed the vendor's state.
    fileprivate var changesSomething: Bool {
        request.method != .get && request.method != .head && (200..<300).contains(response.status.code)
    }
}

/// Why a call cannot become a case.
struct HurlOmission: Error, CustomStringConvertible {
    let why: String

    var description: String { why }
}
