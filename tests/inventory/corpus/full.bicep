param ns string
@description('sqlExpression: \'doc = 1\'')
param region string = 'EU'
// sqlExpression: 'commented = 1'
resource bus 'Microsoft.ServiceBus/namespaces@2022-10-01-preview' existing = {
  name: ns
  resource orders 'topics' = {
    name: 'orders'
    resource eu 'subscriptions' = {
      name: 'eu'
      resource rule 'rules' = {
        name: 'euRule'
        properties: {
          filterType: 'SqlFilter'
          sqlFilter: { sqlExpression: 'region = \'EU\' AND total > 10' }
          action: { sqlExpression: 'SET done = 1' }
        }
      }
    }
  }
}
resource r2 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  parent: sub
  name: 'glued'
  properties: {
    sqlFilter: {
      sqlExpression: 'region = \'${region}\''
      compatibilityLevel: 20
    }
  }
}
resource r3 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = {
  name: '${ns}/t/s/multi'
  properties: {
    sqlFilter: {
      sqlExpression: '''
a = 1
AND b = 'x'
'''
    }
  }
}
resource r4 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = if (cond) {
  parent: sub
  name: 'corr'
  properties: { filterType: 'CorrelationFilter'
    correlationFilter: { contentType: 'json'
      properties: { color: 'red' } } }
}
resource r5 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2021-11-01' = [for s in subs: {
  name: s.name
  properties: { sqlFilter: { sqlExpression: s.filter } }
}]
