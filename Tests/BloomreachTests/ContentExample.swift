import JSON
import Support

/// The example world's content as sent over the network, and its calls.
enum ContentExample {
    static let messages = "/webxp/s/demo-project-1/inappmessages"
    static let blocks = "/webxp/s/demo-project-1/inappcontentblocks?v=2"
    static let bundle = "/wxstatic/projects/demo-project-1/bundle-ios.json?v=2"
    static let consents = "/data/v2/projects/demo-project-1/consent/categories"
    static let segments = "/webxp/projects/demo-project-1/segments"
    static let recommendations = "/optimization/streams/demo-stream-1/recommend/user"

    /// The ids of the example's customers, as members of a body.
    static let anaIDs =
        #""customer_ids":{"cookie":"c0000000-0000-4000-8000-00000000000a","registered":"ana@example.test"}"#
    static let benIDs =
        #""customer_ids":{"cookie":"c0000000-0000-4000-8000-00000000000b","registered":"ben@example.test"}"#
    static let guestIDs = #""customer_ids":{"cookie":"c0000000-0000-4000-8000-00000000000c"}"#

    /// A body with Ana's ids and these additional members.
    static func ofAna(_ members: String...) -> String { body([anaIDs] + members) }
    static func ofBen(_ members: String...) -> String { body([benIDs] + members) }
    static func ofGuest(_ members: String...) -> String { body([guestIDs] + members) }

    private static func body(_ members: [String]) -> String { "{" + members.joined(separator: ",") + "}" }

    static func pushMessage(isRead: Bool = false) -> String {
        #"{"id":"msg-push-1","type":"push","is_read":\#(isRead),"create_time":1799999900.5,"expire_time":1802592000,"#
            + #""content":{"title":"Parcel sent","message":"Your parcel is on its way","#
            + #""image":"https://img.example.test/parcel.png","action":"deeplink","url":"demo://orders/1","actions":[{"#
            + #""action":"browser","title":"Track","url":"https://shop.example.test/track/1"}],"attributes":{"#
            + #""campaign_id":"camp-1","campaign_name":"Orders","action_id":1,"action_type":"mobile notification","#
            + #""action_name":"Parcel","campaign_policy":"Default","event_type":"campaign"},"url_params":{"#
            + #""utm_source":"demo","utm_medium":"mobile_push_notification","utm_campaign":"orders","#
            + #""xnpe_cmp":"invented"},"has_tracking_consent":true,"consent_category_tracking":null,"#
            + #""source":"xnpe_platform","silent":false}}"#
    }

    static let htmlMessage =
        #"{"id":"msg-html-1","type":"html","is_read":false,"create_time":1799999800.25,"expire_time":1802592000,"#
        + #""content":{"title":"Spring news","pre_header":"Three things to know","message":"<html><body><h1>Spring</h1>"#
        + #"<a href='#' data-link='https://shop.example.test/spring' data-actiontype='browser'>Read</a>"#
        + #"<div data-actiontype='close'>Close</div></body></html>","attributes":{"campaign_id":"camp-2","#
        + #""campaign_name":"News","action_id":2,"action_type":"app inbox","action_name":"Spring","#
        + #""campaign_policy":"Default","event_type":"campaign"},"url_params":{"utm_source":"demo","#
        + #""utm_medium":"app_inbox","utm_campaign":"news"},"has_tracking_consent":true,"#
        + #""consent_category_tracking":null,"source":"xnpe_platform","silent":false}}"#

    /// Answer A3 of the vendor's spec.
    static let anasInbox = #"{"success":true,"messages":[\#(pushMessage()),\#(htmlMessage)],"sync_token":"v1.1.1.2"}"#

    /// The only plain message for everyone, answer A2 of the vendor's spec.
    static let welcome =
        #"{"id":"inapp-1","name":"Welcome","message_type":"modal","frequency":"always","payload":{"title":"Hello","#
        + ##""title_text_color":"#000000","title_text_size":"22px","body_text":"Welcome back","##
        + ##""body_text_color":"#000000","body_text_size":"14px","background_color":"#ffffff","##
        + ##""close_button_color":"#000000","buttons":[{"button_text":"Open","button_type":"deep-link","##
        + ##""button_link":"demo://home","button_text_color":"#ffffff","button_background_color":"#0055aa"}]},"##
        + #""variant_id":0,"variant_name":"Variant A","trigger":{"event_type":"session_start","filter":[]},"#
        + #""date_filter":{"enabled":false,"from_date":null,"to_date":null},"load_priority":1,"load_delay":0,"#
        + #""close_timeout":null,"payload_html":null,"is_html":false,"is_rich_text":false,"#
        + #""has_tracking_consent":true,"consent_category_tracking":null}"#

    /// Answer A1 of the vendor's spec.
    static let consentCategories =
        #"{"success":true,"results":[{"id":"newsletter","legitimate_interest":false,"sources":{"crm":true,"#
        + #""import":true,"page":true,"private_api":true,"public_api":true,"scenario":true,"#
        + #""list_unsubscribe":false},"translations":{"":{"name":"Newsletter","description":null},"#
        + #""en":{"name":"Newsletter","description":"News once a week"}}}]}"#

    static let staleToken = #"{"success":false,"error":"invalid sync token"}"#
    static let noMessages = #"{"success":true,"messages":[]}"#
    static let done = #"{"success":true}"#

    static func missing(_ field: String) -> String { #"{"success":false,"error":"Field '\#(field)' is required."}"# }
    static func invalid(_ field: String) -> String { #"{"success":false,"error":"Field '\#(field)' is invalid."}"# }
}

extension World {
    /// Fetches Ana's inbox with the public key.
    func fetchInbox(_ members: String...) async throws -> ReceivedAnswer {
        let body = "{" + ([ContentExample.anaIDs] + members).joined(separator: ",") + "}"
        return try await call(.post, Example.inbox, .token, body)
    }

    /// Marks messages as read with the public key; the owner is Ana unless given.
    func markAsRead(
        _ ids: String, token: String = #""v1.1.1.2""#, owner: String = ContentExample.anaIDs
    ) async throws -> ReceivedAnswer {
        try await call(
            .post, Example.markAsRead, .token,
            #"{\#(owner),"message_ids":\#(ids),"sync_token":\#(token)}"#)
    }

    /// Performs an action of the vendor.
    @discardableResult
    func act(_ action: String, _ members: String) async throws -> ReceivedAnswer {
        try await control(.post, "state/bloomreach/" + action, members)
    }
}

extension ReceivedAnswer {
    /// The ids of an inbox's messages.
    var messageIDs: [String] { json["messages"]?.array?.compactMap { $0["id"]?.string } ?? [] }
}
