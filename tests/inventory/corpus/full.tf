# sql_filter = "commented = 1"
resource "azurerm_servicebus_subscription_rule" "eu" {
  name            = "eu_rule"
  subscription_id = azurerm_servicebus_subscription.eu.id
  filter_type     = "SqlFilter"
  sql_filter      = "region = 'EU' AND name = \"x\""
  action          = "SET a = 1"
}
resource "azurerm_servicebus_subscription_rule" "corr" {
  name = "corr"
  subscription_id = "/subscriptions/1/resourceGroups/g/providers/Microsoft.ServiceBus/namespaces/n/topics/orders/subscriptions/us"
  filter_type = "CorrelationFilter"
  correlation_filter {
    correlation_id = "high"
    label          = "red"
    properties = {
      customProperty = "value"
      "a b"          = "c"
    }
  }
}
resource "azurerm_servicebus_subscription_rule" "doc" {
  name       = "doc"
  sql_filter = <<-EOT
    colour = 'red'
      AND size > 3
  EOT
}
resource "azurerm_servicebus_subscription_rule" "glued" {
  for_each   = var.rules
  name       = each.key
  sql_filter = "region = '${var.region}'"
}
resource "azurerm_servicebus_subscription_rule" "var" {
  name       = "v"
  sql_filter = var.filter
}
locals {
  rules = { a = { sql_filter = "loc = 1" } }
  pod_selector = "app=web"
}
resource "kubernetes_service" "s" { spec { selector = { app = "web" } } }
