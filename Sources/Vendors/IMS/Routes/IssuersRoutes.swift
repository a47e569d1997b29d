import Emulation
import HTTPTypes
import JSON
import Tokens

/// Onboarding of issuers. Source: providing a certificate or a key URL is documented (security page); the calls are
/// ours.
extension IMS {
    static func createIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let (record, reading) = try call.issuerRecord(created: call.moment)
        if let other = state.issuers.issuer(record.issuer) { throw exists("issuer", other) }
        if let other = state.issuers.named(record.name) { throw exists("name", other) }
        return onboard(record, reading, &call, &state, status: .created)
    }

    /// Replaces an issuer; its fetched keys are discarded, its place in the list stays.
    static func replaceIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let old = try issuer(call, state)
        let (record, reading) = try call.issuerRecord(created: old.record.created)
        guard record.name.hasSameBytes(as: old.record.name) else {
            throw Self.refusal("name", "is \(record.name), but the path names \(old.record.name)")
        }
        if let other = state.issuers.issuer(record.issuer), other !== old { throw exists("issuer", other) }
        return onboard(record, reading, &call, &state, status: .ok)
    }

    private static func exists(_ field: String, _ other: IMSIssuer) -> Refused {
        Refusal(
            .issuerExists, ["field": .string(field)],
            because: "issuer \(other.record.name) has the same \(field); expected one that nobody has")
    }

    /// Stores an issuer; keys published elsewhere are fetched first, and a failure to do so is only a warning.
    private static func onboard(
        _ record: IMSIssuerRecord, _ reading: IMSKeyReader.Reading, _ call: inout IMSCall, _ state: inout State,
        status: HTTPResponse.Status
    ) -> Reply {
        let issuer: IMSIssuer
        if var remote = record.source.remoteKeys(of: record.name) {
            guard let report = call.keyFetch else { return .fetchKeys(remote) }
            remote.take(report, call.vendor.keyFetchPolicy(call.switches))
            issuer = IMSIssuer(record, remote: remote)
        } else {
            issuer = IMSIssuer(record, keys: reading.keys, skipped: reading.skipped)
            if let phrase = reading.skipped.phrase {
                call.findings.note(
                    Finding(
                        "keys-skipped", .noted, expected: .text("RSA keys of 2048 bits or more for RS256"),
                        found: .text("\(reading.keys.count) of them, and others"), note: phrase,
                        source: "RFC 7517 section 5"))
            }
        }
        state.issuers.store(issuer)
        return .json(issuer.json(at: call.moment, call.switches), status: status)
    }

    static func listIssuers(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        .json(["issuers": .array(state.issuers.all.map { $0.json(at: call.moment, call.switches) })])
    }

    static func readIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        .json(try issuer(call, state).json(at: call.moment, call.switches))
    }

    /// Fetches the keys now, whatever the cool-down; local keys are always fresh.
    static func refreshIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        var issuer = try issuer(call, state)
        if var remote = issuer.remote {
            if let obstacle = IMSKeyURL(remote.url)?.obstacle(call.switches, named: call.vendor.accounts.namedHosts) {
                throw Refusal(.jwksURLNotAllowed, because: obstacle)
            }
            // The issuer may have got another URL during the fetch; then these keys are not its own.
            guard let report = call.keyFetch, report.url == remote.url else { return .fetchKeys(remote) }
            remote.take(report, call.vendor.keyFetchPolicy(call.switches))
            issuer = IMSIssuer(issuer, remote: remote)
            // Stored before the refusal: a failed attempt counts too.
            state.issuers.store(issuer)
            if let problem = report.problem {
                throw Refusal(
                    .jwksFetchFailed,
                    because: "found \(problem) at \(remote.url); expected status 200 and a usable key")
            }
        }
        return .json(issuer.json(at: call.moment, call.switches))
    }

    static func deleteIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        state.issuers.remove(try issuer(call, state).record.name)
        return .empty()
    }

    private static func issuer(_ call: IMSCall, _ state: State) throws(Refused) -> IMSIssuer {
        let name = call.parameters["name"]
        return try Refused.require(
            state.issuers.named(name), .issuerNotFound,
            "no issuer is called \(name); expected the name of one that was added")
    }
}

extension Call<IMS> {
    /// The issuer that the content describes, with its local keys.
    fileprivate func issuerRecord(
        created: Moment
    ) throws(IMSRefusal) -> (record: IMSIssuerRecord, reading: IMSKeyReader.Reading) {
        let body = try body()
        let keys = try body.read { body in
            body.refuseUnknown(IMSIssuerRecord.members)
            return body.object("keys", isRequired: true) ?? [:]
        }
        let accounts = vendor.accounts
        let switches = switches
        let reader = IMSKeyReader(
            fixtures: accounts.fixtures, obstacle: { $0.obstacle(switches, named: accounts.namedHosts) })
        let reading = try reader.read(keys)
        return (try body.read { IMSIssuerRecord(&$0, source: reading.source, created: created) }, reading)
    }
}
