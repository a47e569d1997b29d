import Emulation
import HTTPTypes
import JSON
import Wire

/// Content blocks for placeholders in an app's own screens. Source: observed, both SDKs.
extension Bloomreach {
    /// The maximum number of ids per call (ours), since each may return all of its content.
    private static let maximumBlocks = 500

    /// Returns the bundle that every app of the project gets; customers request blocks without content themselves.
    static func staticBlocks(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let blocks = call.vendor.content[try call.project().token].blocks
        let start = state.content.begin(at: call.moment)
        return .json(["success": true, "in_app_content_blocks": .array(blocks.map { $0.listing(since: start) })])
    }

    /// Returns a customer's content for blocks: one entry per id, in the order of the request, including repeats.
    static func personalBlocks(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (body, ids) = try call.customerBody()
        let asked = try body.read { body in
            let asked = body.texts("content_block_ids", isRequired: true) ?? []
            if asked.count > maximumBlocks {
                body.refuse("content_block_ids", "\(asked.count) ids; expected at most \(maximumBlocks)")
            }
            return asked
        }
        let owner = try call.bind(ids)
        let project = try call.project()
        let customer = state.reader(owner, in: project)
        let blocks = call.vendor.content[project.token].blocks
        var entries: [JSON] = []
        var bound = AnswerBound()
        for id in asked {
            let entry =
                blocks.first { $0.id.hasSameBytes(as: id) }?.json(for: customer)
                ?? ContentBlock.json(id: id, status: "does_not_exist", ttlSeconds: ContentBlock.usualTTLSeconds)
            try bound.add(entry)
            entries.append(entry)
        }
        return answer(["success": true, "data": .array(entries)], unlessKnownTo: call.request)
    }

    /// A response with an `ETag`, or 304 if the client has it already.
    private static func answer(_ json: JSON, unlessKnownTo request: Request) -> Reply {
        var response = Response.json(json)
        let tag = EntityTag(of: response.body)
        if tag.isNamed(in: request.fields[.ifNoneMatch]) { response = .empty(.notModified) }
        response.fields[.eTag] = tag.text
        return .respond(response)
    }
}

/// The tag of one version of a response (RFC 9110, section 8.8.3).
struct EntityTag {
    /// The tag with its quotes.
    let text: String

    init(of content: [UInt8]) {
        text = "\"\(StableHash(content).hex)\""
    }

    /// Whether `If-None-Match` names the tag, by weak comparison (RFC 9110, section 13.1.2).
    func isNamed(in field: String?) -> Bool {
        guard let field else { return false }
        // These tags contain neither blanks nor commas.
        return field.split(separator: ",").contains { item in
            let tag = item.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || tag == text || tag == "W/" + text
        }
    }
}
